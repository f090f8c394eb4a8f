"""Trainings that begin with a base, and those that end with all texts."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from headwise.app.workflows.train import train_files
from headwise.artifacts import load_model
from headwise.core.errors import ConfigError, HeadwiseError
from headwise.core.folder_layout import RUN_STATE
from headwise.data.splits.data_parts import DataParts
from headwise.linear import baselines
from headwise.linear.baselines import fit_baseline
from headwise.nn.embeddings.base_embedding import BaseEmbedding
from headwise.text.static_embeddings.base_choice import MIN_COVERAGE, choose_base
from headwise.text.static_embeddings.base_folder import save_base
from headwise.text.static_embeddings.base_vectors import QuantizedMatrix, StaticEmbeddings
from headwise.text.static_embeddings.installed_bases import open_base
from headwise.training import fit as fit_room
from headwise.training import loop
from headwise.training.run_state import REFIT_FOLDER, load_tensors

SMALL = {
    "encoder": {"width": 8, "heads": 2, "head-size": 4, "layers": 1},
    "classifier": {"hidden": 8},
    "train": {"epochs": 2, "batch-texts": 8},
}
WORDS = ("good", "fine", "great", "bad", "poor", "awful", "a", "film", "book", "this", "is", "number", ".")


@pytest.fixture
def base(tmp_path) -> str:
    """A base that knows what is good and what is bad."""
    random = np.random.default_rng(0)
    rows = 0.1 * random.normal(size=(len(WORDS), 6))
    rows[:3, 0], rows[3:6, 0] = 1, -1
    runs = QuantizedMatrix.of(0.1 * random.normal(size=(64, 6)).astype(np.float32))
    weights = np.ones(len(WORDS) + 1, dtype=np.float32)
    save_base(
        StaticEmbeddings("tiny", WORDS, QuantizedMatrix.of(rows.astype(np.float32)), runs, weights),
        tmp_path / "base",
        "#\n",
    )
    return str(tmp_path / "base")


def texts(path, count: int = 40, start: int = 0) -> str:
    """A csv file of opinions that only the base tells apart: each word occurs in one text."""
    rows = []
    for number in range(start, start + count):
        word = WORDS[number % 6]
        rows.append(f"this film is {word} x{number},{'good' if number % 6 < 3 else 'bad'}")
    path.write_text("\n".join(["text,label", *rows, ""]))
    return str(path)


def run(tmp_path, base: str, output: str = "model", **options):
    settings = [{"base": {"name": base}}, SMALL, options.pop("settings", {})]
    return train_files(
        texts(tmp_path / "train.csv"), tmp_path / output, settings=settings, baseline=False, **options
    )


def test_a_model_begins_with_what_the_base_knows_and_keeps_it_in_its_folder(tmp_path, base):
    outcome = run(tmp_path, base, test=texts(tmp_path / "test.csv", 30, 100))
    assert outcome.test.scores.accuracy > 0.9
    model = outcome.fitted.model
    assert isinstance(model.embedding, BaseEmbedding)
    loaded = load_model(tmp_path / "model")
    some = ["this is a great book", "this is an awful book", "", "zebra"]
    assert np.allclose(loaded.predict_proba(some), model.predict_proba(some), atol=1e-6)
    assert [own.unknown for own in loaded.features.encode(some)] == [0, 1, 0, 1]
    assert (tmp_path / "model" / "base.json").is_file()


def test_a_damaged_list_of_words_is_told(tmp_path, base):
    run(tmp_path, base)
    path = tmp_path / "model" / "base.json"
    path.write_text(json.dumps({"words": json.loads(path.read_text())["words"][1:]}))
    with pytest.raises(Exception, match=r"base\.json|config\.json|safetensors"):
        load_model(tmp_path / "model")


def test_a_base_and_vectors_exclude_each_other(tmp_path, base):
    (tmp_path / "v.txt").write_text("film 1 2\n")
    with pytest.raises(ConfigError, match="exclude each other"):
        run(tmp_path, base, settings={"vectors": {"file": str(tmp_path / "v.txt")}})


def test_a_base_is_taken_by_itself_where_it_knows_the_words(monkeypatch, tmp_path, base):
    place = "headwise.text.static_embeddings.installed_bases."
    monkeypatch.setattr(place + "bundled_bases", lambda: {"english": Path(base)})
    monkeypatch.setattr(place + "_places", list)
    found, told = choose_base("auto", [["this", "is", "good"]] * 3)
    assert found is not None
    assert "100 %" in told
    strange = [["dies", "ist", "gut", "is"]]
    found, told = choose_base("auto", strange)
    assert found is None
    assert "25 %" in told
    assert MIN_COVERAGE > 0.25
    assert choose_base(base, strange)[0] is not None
    assert choose_base("none", strange) == (None, "")


@pytest.mark.usefixtures("three_folds")
def test_the_last_training_has_the_dev_texts_where_they_were_split_off(tmp_path, base, monkeypatch):
    seen = []
    train = fit_room.run_epochs

    def spy(model, objective, *rest, **how):
        whole = getattr(objective, "objective", objective)
        seen.append(len(whole.lengths) - whole.label_name_count)
        return train(model, objective, *rest, **how)

    monkeypatch.setattr(fit_room, "run_epochs", spy)
    refit = {"train": {"refit": True, "folds": 0}}
    own = run(tmp_path, base, "split", settings=refit, test=texts(tmp_path / "test.csv", 12, 100))
    assert seen == [34, 40]
    assert own.fitted.refit
    seen.clear()
    own = run(
        tmp_path,
        base,
        "given",
        settings=refit,
        dev=texts(tmp_path / "dev.csv", 12, 50),
        test=texts(tmp_path / "test.csv", 12, 100),
    )
    assert seen == [40]
    assert not own.fitted.refit
    seen.clear()
    own = run(tmp_path, base, "folds", test=texts(tmp_path / "test.csv", 12, 100))
    assert seen == [26, 27, 27, 40]
    assert own.fitted.refit


@pytest.mark.parametrize("refit", [False, True])
def test_the_baseline_has_what_the_model_had(tmp_path, base, monkeypatch, refit):
    asked = []

    def spy(*parts, **how):
        asked.append(how["refit"])
        return fit_baseline(*parts, **how)

    monkeypatch.setattr(baselines, "fit_baseline", spy)
    settings = [{"base": {"name": base}}, SMALL, {"train": {"refit": refit, "folds": 0}}]
    test = texts(tmp_path / "test.csv", 12, 100)
    outcome = train_files(texts(tmp_path / "train.csv"), tmp_path / "model", settings=settings, test=test)
    assert asked == [refit]
    assert "baseline" in outcome.systems


@pytest.mark.usefixtures("three_folds")
def test_every_text_is_judged_once_by_a_model_that_has_not_seen_it(tmp_path, base, monkeypatch):
    parts = []
    crossed = fit_room.cross_fit

    def spy(learn, *rest, **how):
        def noted(own, folder, **more):
            done = learn(own, folder, **more)
            parts.append((own, done))
            return done

        found = crossed(noted, *rest, **how)
        for own, done in parts:
            train, held = ([item.text for item in part] for part in (own.train, own.dev))
            assert not set(train) & set(held)
            assert {item.label for item in own.train} == {"good", "bad"}
            numbers = [int(text.split("x")[1]) for text in held]
            places = [order.index(number) for number in numbers]
            encoded = done.model.encoded(held)
            assert np.array_equal(
                found.outputs[np.searchsorted(found.held, places)], done.model.outputs_of(encoded)
            )
        assert sorted(found.held) == list(range(40))
        return found

    monkeypatch.setattr(fit_room, "cross_fit", spy)
    order: list[int] = []
    monkeypatch.setattr(fit_room, "replace", lambda parts, **new: _noted(order, replace(parts, **new)))
    outcome = run(tmp_path, base, test=texts(tmp_path / "test.csv", 12, 100))
    assert len(parts) == 3
    assert outcome.fitted.dev["accuracy"] > 0.9
    assert outcome.fitted.model.temperature > 0


def _noted(order, parts):
    if isinstance(parts, DataParts):
        order[:] = [int(item.text.split("x")[1]) for item in parts.train]
    return parts


@pytest.mark.parametrize(
    ("settings", "place"),
    [({"refit": True, "folds": 0}, REFIT_FOLDER), ({}, REFIT_FOLDER), ({}, ".fold-2")],
)
def test_a_later_training_that_was_stopped_goes_on(tmp_path, base, monkeypatch, settings, place):
    refit = {"train": settings}
    whole = run(tmp_path, base, "whole", settings=refit).fitted.model
    train = fit_room.run_epochs

    def stops(model, objective, config, folder, **how):
        if folder.name == place:
            raise KeyboardInterrupt
        return train(model, objective, config, folder, **how)

    monkeypatch.setattr(fit_room, "run_epochs", stops)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, base, "stopped", settings=refit)
    monkeypatch.setattr(fit_room, "run_epochs", train)
    resumed = run(tmp_path, base, "stopped", settings=refit, resume=True).fitted.model
    for name, values in whole.state_dict().items():
        assert torch.equal(values, resumed.state_dict()[name]), name
    assert not (tmp_path / "stopped" / "training").exists()


def test_the_state_of_a_run_leaves_out_the_tables_of_the_base_and_knows_them(tmp_path, base, monkeypatch):
    def stop(run):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(loop._TrainingRun, "take_best", stop)
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path, base)
    folder = tmp_path / "model" / "training"
    for path, prefix in ((folder / RUN_STATE, "model/"), (*folder.glob("best-*"), "")):
        names = {name.removeprefix(prefix) for name in load_tensors(path)[0]}
        assert "embedding.norm.weight" in names
        assert not names & {f"embedding.{name}" for name in ("values", "scales", "weights")}
    tables = QuantizedMatrix.of(np.ones((len(WORDS), 6), dtype=np.float32))
    save_base(replace(open_base(base), table=tables), base, "#\n")
    with pytest.raises(HeadwiseError, match="tables was"):
        run(tmp_path, base, resume=True)


def test_a_base_has_no_cls_state(tmp_path, base):
    with pytest.raises(ConfigError, match=r"\[CLS\] state of a pretrained encoder"):
        run(tmp_path, base, settings={"model": {"readout": "attentive,cls"}})
