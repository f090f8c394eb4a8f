"""The search over settings: what is tried how far, that it goes on, what comes out, and that it finds what
is there to be found."""

import json
import random
import tomllib
from functools import partial

import numpy as np
import pytest

from headwise.app import training_request
from headwise.app.cli.tune_command import confirmation
from headwise.app.configuration import build_config
from headwise.app.training_plan import RunData, TrainingFiles
from headwise.app.training_request import SettingsSources, resolve
from headwise.app.workflows import tune
from headwise.app.workflows.search_spaces import (
    DEFAULTS,
    ENCODER_DEFAULT,
    priors_search_space,
    settings_search_space,
)
from headwise.app.workflows.trials import TimeBudgetExceeded, Trials, changed_run_config
from headwise.app.workflows.tune import (
    _complete_sections,
    _merged,
    _SuccessiveHalving,
    recipe_text,
    tune_file,
)
from headwise.core.errors import ConfigError, HeadwiseError
from headwise.data.items.examples import Example
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.splits.data_parts import DataParts
from headwise.models.tasks import find_task
from headwise.nn.encoders.encoder_configs import encoder_name
from headwise.nn.networks.text_models import TextClassifierModel
from headwise.text.vocabulary import Vocabulary

SMALL = {
    "base": {"name": "none"},
    "encoder": {"name": "ms-transformer", "width": 8, "heads": 2, "head_size": 4, "layers": 1},
    "classifier": {"hidden": 8},
    "train": {"epochs": 1},
}
CHANGES = {
    DEFAULTS: {},
    "rate": {"train": {"learning_rate": 0.03}},
    "rate up": {"train": {"learning_rate": 0.05}},
    "no linear_model": {"linear_model": {"kind": "none"}},
    "dropout": {"words": {"dropout": 0.9}},
}

FEW_PRIORS = {ENCODER_DEFAULT: (), "window 3": ("window(3)",)}


def few(recipe):
    return CHANGES


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    chosen = random.Random(0)
    path = tmp_path_factory.mktemp("search") / "texts.tsv"
    rows = []
    for number in range(60):
        words = chosen.choices("abcdefgh", k=5)
        rows.append(f"{'yes' if 'a' in words else 'no'}\t{' '.join(words)} {number}")
    path.write_text("label\ttext\n" + "\n".join(rows) + "\n")
    return str(path)


@pytest.fixture(scope="module")
def found(texts, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    return folder, tune_file(texts, folder, seeds=2, settings=[SMALL], space=few)


def test_the_better_go_on_and_the_defaults_to_the_end(found):
    folder, search = found
    assert search.steps == 2
    assert search.finished
    assert {own.name for own in search.tried} >= CHANGES.keys()
    last = [own for own in search.tried if own.step == 2]
    assert DEFAULTS in {own.name for own in last}
    assert [own.step for own in search.tried] == sorted((own.step for own in search.tried), reverse=True)
    assert search.tried[0].loss == min(own.loss for own in last)
    for own in search.tried:
        assert (own.gain is None) == (own.name == DEFAULTS)
        if own.gain is not None:
            assert own.gain.interval[0] <= own.gain.score <= own.gain.interval[1]
    if search.confirmed is not None:  # on folds that had no say, 2 and 3 of 5
        assert 15 <= search.confirmed.items <= 24
    assert not [path for path in folder.iterdir() if path.is_dir()]
    assert json.loads(json.dumps(search.to_json()))["finished"] is True


def test_it_goes_on_without_training_again(found, texts):
    folder, search = found
    before = (folder / "search.jsonl").read_bytes()
    again = tune_file(texts, folder, seeds=2, settings=[SMALL], space=few, minutes=0)
    assert (again.tried, again.confirmed, again.best) == (search.tried, search.confirmed, search.best)
    assert (folder / "search.jsonl").read_bytes() == before
    with pytest.raises(HeadwiseError, match=r"another search: recipe.train.epochs was 1 and is now 3"):
        tune_file(texts, folder, seeds=2, settings=[SMALL, {"train": {"epochs": 3}}], space=few)


def test_the_recipe_is_one(found):
    _, search = found
    text = recipe_text(search.settings, "said\ntwice")
    assert text.startswith("# said\n# twice\n")
    assert build_config(tomllib.loads(text)) == build_config(search.settings)
    for section, own in search.best.change.items():
        assert own.items() <= search.settings[section].items()
    odd = {"data": {"text_column": '\U0001f600 \u00e9 "x"'}}
    assert tomllib.loads(recipe_text(odd, "said")) == odd


def test_no_time(texts, tmp_path):
    with pytest.raises(ConfigError, match="no time"):
        tune_file(texts, tmp_path, settings=[SMALL], minutes=0)


@pytest.mark.parametrize("number", [{"minutes": float("nan")}, {"minutes": -1.0}, {"seeds": 0}])
def test_numbers_that_make_no_sense(number, texts, tmp_path):
    with pytest.raises(ConfigError, match="--seeds"):
        tune_file(texts, tmp_path, settings=[SMALL], **number)


@pytest.mark.parametrize("unit", ["characters", "words"])
def test_language_models_are_judged_on_the_end_of_the_text(unit, tmp_path):
    file, folder = tmp_path / "plain.txt", tmp_path / "runs"
    file.write_text("to be or not to be, that is the question\n" * 60)
    own = {"unit": unit, "context": 32}
    tiny = {"width": 8, "heads": 2, "head_size": 4, "layers": 1}
    settings = [
        {"model": {"task": "language-model"}, "language": own, "encoder": tiny, "train": {"epochs": 1}}
    ]
    changes = {
        DEFAULTS: {},
        "slow": {"train": {"learning_rate": 1e-9}},
        "rate": {"train": {"learning_rate": 0.1}},
    }
    found = tune_file(str(file), folder, seeds=2, settings=settings, space=lambda _: changes)
    assert [own.name for own in found.tried] == ["rate", DEFAULTS, "slow"]
    for own in found.tried:  # bits of the whole; the mean loss is that of stretches of nearly one size
        assert own.score == pytest.approx(own.loss / np.log(2), rel=1e-2)
    assert found.confirmed.loss > 0
    assert found.confirmed.items == found.tried[0].gain.items > 50
    assert found.metric_table.primary_metric.title == f"bits per {unit[:-1]}"
    with pytest.raises(ConfigError, match="look to both sides"):
        tune_file(str(file), tmp_path / "priors", settings=settings, space=priors_search_space)


def test_fewer_items_have_shorter_epochs():
    recipe = build_config({"model": {"task": "language-model"}, "language": {"windows": 100}})
    shorter = find_task("language-model").for_data_share(recipe, 0.125)
    assert shorter.model.language.windows == 13


@pytest.mark.parametrize("given", [False, True])
def test_what_gains_is_found_tried_together_and_confirmed(texts, tmp_path, monkeypatch, given):
    """Trials that do not train: a loss of 1 less what each change is worth, and some noise."""
    worth = {"rate": 0.1, "rate up": 0.2, "no linear_model": -0.2, "dropout": 0.1}
    asked = []

    def metric_parts(self, change, share, trial, until=0.0):
        names = [name for name, own in CHANGES.items() if own and all(own[s] == change.get(s) for s in own)]
        noise = np.random.default_rng(trial).normal(0, 0.01, (12, 1))
        loss = np.full((12, 1), 1 - sum(worth[name] for name in names)) + noise
        asked.append((tuple(names), trial))
        return np.hstack([loss, loss < 0.9, np.ones((12, 1))]).astype(np.float32), True

    monkeypatch.setattr(Trials, "metric_parts", metric_parts)
    monkeypatch.setattr(tune, "_MIN_ITEMS", 1)
    dev = texts if given else None
    found = tune_file(texts, tmp_path, dev=dev, seeds=2, settings=[SMALL], space=few)
    best = found.best
    assert best.change == {"train": {"learning_rate": 0.05}, "words": {"dropout": 0.9}}
    assert best.gain.loss == pytest.approx(0.3, abs=1e-3)
    assert found.confirmed.loss == pytest.approx(0.3, abs=1e-3)
    assert found.confirmed.items == (12 if given else 24)
    assert found.uses_new_items is found.to_json()["apart"] is not given
    assert {trial for names, trial in asked if names == ("rate up", "dropout")} == {0, 1, 2, 3}
    assert {trial for names, trial in asked if names == ("no linear_model",)} == {0}
    assert {own.name for own in found.tried if own.step == 1} & {"no linear_model"}


@pytest.mark.parametrize("late", [False, True])
def test_what_does_not_hold_is_not_taken(texts, tmp_path, monkeypatch, late):
    """Nor what there was no time to confirm."""

    def metric_parts(self, change, share, trial, until=0.0):
        if late and trial >= 2:
            raise TimeBudgetExceeded
        better = (trial < 2) == ("train" in change)
        return np.tile(np.float32([0.5 if better else 1.0, better, 1]), (9, 1)), True

    monkeypatch.setattr(Trials, "metric_parts", metric_parts)
    found = tune_file(texts, tmp_path, seeds=2, settings=[SMALL], space=few)
    assert found.tried[0].name.startswith("rate")
    if late:
        assert found.confirmed is None
        assert confirmation(found).endswith(f"as the time was over. The recipe keeps {DEFAULTS}.")
    else:
        assert found.confirmed.loss == pytest.approx(-0.5)
    assert found.best.name == DEFAULTS
    assert "learning_rate" not in found.settings["train"]


def test_priors(texts, tmp_path):
    ladder = {ENCODER_DEFAULT: (), "everything": ("everything",)}
    found = tune_file(
        texts,
        tmp_path,
        seeds=1,
        settings=[SMALL],
        space=lambda recipe: priors_search_space(recipe, ladder),
        meanwhile={"linear_model": {"kind": "none"}},
    )
    assert {own.name for own in found.tried} == {ENCODER_DEFAULT, "everything"}
    assert "linear_model" not in found.settings
    assert (found.best.name == "everything") == ("priors" in found.settings["encoder"])


def test_a_training_that_diverges_is_the_worst(texts, tmp_path):
    def space(recipe):
        return {DEFAULTS: {}, "wild": {"train": {"learning_rate": 1e30, "clip": 0.0}}}

    found = tune_file(
        texts, tmp_path, seeds=1, settings=[SMALL, {"linear_model": {"kind": "none"}}], space=space
    )
    assert found.best.name == DEFAULTS
    assert found.tried[-1].loss == 1000


@pytest.mark.parametrize("texts", [300, 4_200])
@pytest.mark.parametrize(
    "change",
    [
        {},
        {"train": {"learning_rate": 0.002}},
        {"encoder": {"width": 64, "heads": 2}},
        {"base": {"name": "none"}, "classifier": {"dropout": 0.1}},
        {"base": {"dropout": 0.5}},
        {"base": {"encoder": "off"}},
    ],
)
def test_a_recipe_comes_to_what_was_searched_whatever_is_chosen_for_the_data(texts, change):
    """Of several thousand texts an encoder is chosen with settings of its own, unless one is named, or they
    start from the encoder of the base."""
    own = [Example(f"the film was {'good' if n % 2 else 'bad'} again", "ny"[n % 2]) for n in range(texts)]
    parts = DataParts(ITEM_TYPES_BY_TASK["classify"], own, own[:100], [])
    base = {"base": {"encoder": "off"}} if texts > 4_000 else {}
    layers = ({"model": {"task": "classify"}, **base},)
    sources = SettingsSources(parts)
    recipe = changed_run_config(sources, layers, change)
    found = _complete_sections(_merged((*layers, change)), recipe, sources)
    read = resolve(tomllib.loads(recipe_text(found, "said"))).plan(RunData(parts)).run_config
    assert read == recipe
    assert (encoder_name(recipe.model.encoder) == "ms-san") == (
        texts > 4_000 and "name" not in change.get("base", {})
    )


def test_every_candidate_makes_a_network_where_models_start_from_the_encoder_of_a_base():
    texts = [Example(f"the film was {'good' if n % 2 else 'bad'} again", "ny"[n % 2]) for n in range(100)]
    parts = DataParts(ITEM_TYPES_BY_TASK["classify"], texts, texts[:20], [])
    sources, layers = SettingsSources(parts), ({"model": {"task": "classify"}},)
    start = changed_run_config(sources, layers, {})
    assert start.model.base.encoder == "on"
    for name, change in settings_search_space(start).items():
        model = changed_run_config(sources, layers, change).model
        TextClassifierModel(model, Vocabulary.build([["film"]], min_count=1), ["n", "y"])
        without = name in ("base.encoder on -> off", "base.name english -> none")
        assert (model.encoder == start.model.encoder) == (not without), name


@pytest.mark.parametrize(
    ("space", "meanwhile"),
    [
        (settings_search_space, {}),
        (partial(priors_search_space, ladder=FEW_PRIORS), {"linear_model": {"kind": "none"}}),
    ],
)
def test_the_recipe_of_a_search_is_read_as_what_it_has_found(space, meanwhile, tmp_path, monkeypatch):
    """By trials that do not train, of so many texts that an encoder is chosen for them."""

    def metric_parts(self, change, share, trial, until=0.0):
        return np.tile(np.float32([0.5 if "encoder" in change else 1.0, 1, 1]), (9, 1)), True

    monkeypatch.setattr(Trials, "metric_parts", metric_parts)
    file = tmp_path / "texts.tsv"
    rows = (f"{'ny'[n % 2]}\tthe film was {'good' if n % 2 else 'bad'} {n}\n" for n in range(6_000))
    file.write_text("label\ttext\n" + "".join(rows))
    settings = [{"base": {"encoder": "off"}}]
    found = tune_file(
        file, tmp_path / "found", seeds=1, settings=settings, space=space, meanwhile=meanwhile
    )
    assert "encoder" in found.best.change
    request = resolve(tomllib.loads(recipe_text(found.settings, "said")), str(file))
    read = request.plan(request.read(TrainingFiles(str(file)))).run_config
    assert read == found.run_config
    assert encoder_name(read.model.encoder) == "ms-san"
    assert (read.model.base.probe, read.model.linear_model.kind) == (False, "linear")


@pytest.mark.parametrize("given", ["vectors", "base"])
def test_vectors_and_texts_are_read_once(texts, tmp_path, monkeypatch, given):
    read = []
    for name in ("load_vectors", "choose_base"):
        whole = getattr(training_request, name)
        monkeypatch.setattr(
            training_request, name, lambda *own, whole=whole: read.append(own) or whole(*own)
        )
    monkeypatch.setattr(Trials, "metric_parts", lambda *own: (np.ones((9, 3), np.float32), True))
    (tmp_path / "v.txt").write_text("a 1 2 3 4\nb 0 0 0 1\n")
    small = {key: own for key, own in SMALL.items() if key != "base"}
    settings = [small, {"vectors": {"file": str(tmp_path / "v.txt")}}] if given == "vectors" else []
    tune_file(texts, tmp_path / "found", seeds=1, settings=settings, space=few)
    assert len(read) == 1


def test_whoever_nothing_tells_from_the_last_that_goes_on_goes_on_too():
    search = _SuccessiveHalving.__new__(_SuccessiveHalving)
    search.baseline = "own"
    losses = {"own": 5.0, "a": 1.0, "b": 2.0, "c": 3.0, "d": 3.0, "e": 3.0, "f": 4.0}
    search._metric_parts = lambda name: np.array([[losses[name], 0.0, 1.0]])  # type: ignore[method-assign]
    assert search._better_half([*losses]) == ["own", "a", "b", "c", "d", "e"]
    losses |= {"c": 2.5, "d": 2.6}
    assert search._better_half([*losses]) == ["own", "a", "b", "c", "d"]


def test_a_change_that_has_made_no_difference_yet_goes_on():
    search = _SuccessiveHalving.__new__(_SuccessiveHalving)
    search.baseline = "own"
    losses = {"own": (5, 5), "a": (1, 1), "b": (2, 2), "c": (3, 3), "blind": (5, 5), "other": (4, 6)}
    search._metric_parts = lambda name: np.array([[loss, 0.0, 1.0] for loss in losses[name]])  # type: ignore[method-assign]
    assert search._better_half([*losses]) == ["own", "a", "b", "c", "blind"]
