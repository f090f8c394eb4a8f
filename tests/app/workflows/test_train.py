"""A whole run as a function: files in, parts made or read, a judged model out."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from headwise.app.configuration import build_config
from headwise.app.reporter import Reporter
from headwise.app.training_plan import RunData, TrainingPlan
from headwise.app.training_request import resolve
from headwise.app.workflows.evaluate import evaluate_file
from headwise.app.workflows.train import fit_evaluate_save, train_files
from headwise.artifacts import load_model, read_info
from headwise.core.folder_layout import RUN_STATE
from headwise.data.items.examples import Example
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.splits.data_parts import DataParts, read_parts
from headwise.models.tasks import find_task
from headwise.training.run_state import remove_run

SMALL = {
    "encoder": {"width": 8, "heads": 2, "head-size": 4, "layers": 1},
    "classifier": {"hidden": 8},
    "words": {"vector-size": 8},
    "train": {"epochs": 2, "batch-texts": 8},
}
GOOD, BAD = "a good film number {}", "a bad film number {}"


def write(path: Path, labels: str, start: int = 0) -> str:
    """A csv file with one text for each letter: g good, b bad, m mixed."""
    names = {"g": ("good", GOOD), "b": ("bad", BAD), "m": ("mixed", "a mixed film number {}")}
    rows = [f"{names[c][1].format(start + n)},{names[c][0]}" for n, c in enumerate(labels)]
    path.write_text("\n".join(["text,label", *rows, ""]))
    return str(path)


def read(train: str, recipe, dev: str | None = None, test: str | None = None) -> DataParts:
    """The parts of the files, for the task of the recipe."""
    kind = find_task(recipe.model.task).item_type_for(recipe.model)
    return read_parts(kind, train, dev, test, recipe.data, recipe.split)


def small_plan(parts: DataParts) -> TrainingPlan:
    return TrainingPlan(find_task("classify"), RunData(parts), build_config(SMALL))


def test_settings_come_from_the_size_unless_they_are_said(tmp_path):
    texts = read(write(tmp_path / "train.csv", "gb" * 20), build_config())
    asked = ({"train": {"epochs": 3}}, {"encoder": {"layers": 1}})
    plan = resolve(asked).plan(RunData(texts))
    settings = plan.run_config
    assert plan.vectors is None
    assert (settings.train.epochs, settings.train.batch_texts) == (3, 32)
    assert (settings.model.encoder.layers, settings.model.encoder.width) == (1, 64)
    other = resolve({"encoder": {"name": "transformer"}}).plan(RunData(texts)).run_config
    assert (other.model.encoder.width, other.model.encoder.heads) == (64, 4)


def test_the_size_of_the_vectors_is_that_of_the_file(tmp_path):
    texts = read(write(tmp_path / "train.csv", "gb" * 20), build_config())
    (tmp_path / "v.txt").write_text("film 1 2 3\na 3 4 5\n")
    plan = resolve({"vectors": {"file": str(tmp_path / "v.txt")}}).plan(RunData(texts))
    settings, vectors = plan.run_config, plan.vectors
    assert vectors is not None
    assert vectors.words == ["film", "a"]
    assert settings.model.words.vector_size == 3
    assert settings.model.encoder.width == 300


@pytest.fixture
def texts(tmp_path) -> DataParts:
    return read(write(tmp_path / "all.csv", "gb" * 30), build_config())


def test_a_run_leaves_a_judged_model(tmp_path, texts):
    folder = tmp_path / "model"
    outcome = fit_evaluate_save(small_plan(texts), folder)
    assert outcome.test is not None
    assert "baseline" in outcome.systems
    assert outcome.test.scores.texts == len(texts.test)
    assert not (folder / "training").exists()
    assert load_model(folder).labels == ("bad", "good")
    metrics = json.loads((folder / "metrics.json").read_text())
    assert metrics["test"]["accuracy"] == outcome.test.scores.accuracy
    assert metrics["baseline"]["name"] == "TF-IDF + linear SVM"
    assert len(metrics["baseline"]["difference"]["interval"]) == 2
    data = json.loads((folder / "data.json").read_text())
    assert [data[name]["texts"] for name in ("train", "dev", "test")] == [42, 9, 9]
    training = json.loads((folder / "training.json").read_text())
    assert build_config(training["recipe"]) == build_config(SMALL)
    assert len(training["history"]) == 2
    assert training["columns"] == {"text_column": "text", "label_column": "label"}  # though guessed
    card = (folder / "README.md").read_text()
    assert "TF-IDF + linear SVM" in card
    assert "This model is ahead of the baseline, text by text" in card
    assert f"{100 * outcome.test.scores.accuracy:.1f} %" in card


def test_without_test_texts_there_is_no_score(tmp_path, texts):
    folder = tmp_path / "model"
    outcome = fit_evaluate_save(small_plan(replace(texts, test=[])), folder)
    assert outcome.test is None
    assert "baseline" not in outcome.systems
    assert {"test", "baseline"}.isdisjoint(json.loads((folder / "metrics.json").read_text()))


def test_without_a_baseline(tmp_path, texts):
    outcome = fit_evaluate_save(small_plan(texts), tmp_path / "model", baseline=False)
    assert outcome.test is not None
    assert "baseline" not in outcome.systems


def test_labels_that_only_training_has(tmp_path):
    train = [Example(GOOD.format(n), "good") for n in range(20)]
    train += [Example(BAD.format(n), "bad") for n in range(20)] + [Example("so so", "mixed")]
    dev, test = [train[0]], [train[25]]
    parts = DataParts(ITEM_TYPES_BY_TASK["classify"], train, dev, test)
    outcome = fit_evaluate_save(small_plan(parts), tmp_path / "model")
    assert outcome.fitted.model.labels == ("bad", "good", "mixed")


def test_removing_a_run_leaves_what_is_not_its(tmp_path):
    for name in (RUN_STATE, "best-2.safetensors", RUN_STATE + ".partial", "mine.csv"):
        (tmp_path / name).touch()
    remove_run(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.csv"]
    (tmp_path / "mine.csv").unlink()
    remove_run(tmp_path)
    assert not tmp_path.exists()
    remove_run(tmp_path)


def test_test_texts_that_training_has_are_told_and_left_out(tmp_path):
    train = [Example(GOOD.format(n), "good") for n in range(20)]
    train += [Example(BAD.format(n), "bad") for n in range(20)]
    new = [Example("a good book", "good"), Example("a bad book", "bad")]
    parts = DataParts(ITEM_TYPES_BY_TASK["classify"], train, train[:3], [*train[:8], *new])
    heard: list[str] = []

    class Ear(Reporter):
        def warn(self, text: str) -> None:
            heard.append(text)

    folder = tmp_path / "model"
    outcome = fit_evaluate_save(small_plan(parts), folder, baseline=False, reporter=Ear())
    assert [text.split(" too")[0] for text in heard] == [
        "3 of 3 dev texts are training texts",
        "8 of 10 test texts are training texts",
        "3 of 10 test texts are dev texts",
    ]
    assert outcome.test_duplicates == 8
    assert outcome.systems["unseen"].scores["texts"] == 2
    # Whoever evaluates the model on such texts later is told too.
    (tmp_path / "t.csv").write_text("text,label\na good FILM number 3,good\na bad book,bad\n")
    found = evaluate_file(folder, tmp_path / "t.csv")
    assert found.messages[0].text.startswith("1 of 2 texts also occur in the training or dev data")
    assert found.unseen is not None
    assert found.unseen.scores["texts"] == 1


def test_the_folder_records_the_files_and_the_model_that_it_started_from(tmp_path):
    rows = [(f"{'fine' if n % 2 else 'poor'} film {n}", "gb"[n % 2]) for n in range(40)]
    for name in ("one", "two", "three"):
        lines = [f"{text} {name},{label}" for text, label in rows]
        (tmp_path / f"{name}.csv").write_text("\n".join(["text,label", *lines]) + "\n")
    tiny = {"encoder": {"width": 8, "heads": 2, "head_size": 4, "layers": 1}, "train": {"epochs": 1}}
    files = [tmp_path / "one.csv", tmp_path / "two.csv"]
    train_files(files, tmp_path / "first", test=tmp_path / "three.csv", settings=tiny, baseline=False)
    info = read_info(tmp_path / "first")
    assert info.data.files == {"train": ["one.csv", "two.csv"], "test": ["three.csv"]}
    assert info.training.previous is None
    assert datetime.now(UTC) - datetime.fromisoformat(info.training.finished) < timedelta(minutes=10)
    continued = {"base": {"name": str(tmp_path / "first")}, "train": {"epochs": 1}}
    train_files(tmp_path / "three.csv", tmp_path / "second", settings=continued, baseline=False)
    assert read_info(tmp_path / "second").training.previous == "first"
    for file in (tmp_path / "second").glob("*.json"):  # names without their folders
        assert str(tmp_path) not in file.read_text()
