"""A model folder as recipe: training runs with the settings of an earlier model."""

import csv

import numpy as np
import pytest

from headwise import TextClassifier, TextTagger, save_model
from headwise.app.configuration import read_preset
from headwise.app.reporter import Reporter
from headwise.app.workflows.train import train_files
from headwise.artifacts import load_model, read_info
from headwise.core.errors import ConfigError

SETTINGS = {
    "data": {"text_column": "message"},
    "encoder": {"width": 8, "heads": 2, "head-size": 4, "layers": 1},
    "classifier": {"hidden": 8, "class_weights": "balanced"},
    "words": {"vector-size": 3},
    "train": {"epochs": 2, "batch-texts": 8, "device": "cpu"},
    "split": {"seed": 3},
}


class RecordingReporter(Reporter):
    """Records notes and warnings."""

    def __init__(self):
        self.lines: list[str] = []

    def note(self, text: str) -> None:
        self.lines.append(text)

    warn = note


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a csv file, word vectors, and a model trained with them."""
    place = tmp_path_factory.mktemp("runs")
    with (place / "data.csv").open("w", newline="") as file:
        rows = [(f"a {('good', 'bad')[n % 2]} film {n}", ("good", "bad")[n % 2], "x") for n in range(60)]
        csv.writer(file).writerows([("message", "label", "text"), *rows])
    (place / "v.txt").write_text("film 1 2 3\na 3 4 5\n")
    settings = {**SETTINGS, "vectors": {"file": str(place / "v.txt")}}
    train_files(str(place / "data.csv"), place / "model", settings=settings)
    return place


def test_the_same_settings_and_data_give_the_same_model(folder, tmp_path):
    recipe = read_preset(folder / "model")
    again = {"vectors": {"file": str(folder / "v.txt")}, "train": {"device": "cpu"}}
    train_files(str(folder / "data.csv"), tmp_path / "again", settings=(recipe, again))
    places = folder / "model", tmp_path / "again"
    stored, repeated = (read_info(place).training.recipe for place in places)
    assert repeated == stored
    assert repeated["data"]["text_column"] == "message"
    models = [load_model(place) for place in places]
    weights, others = (dict(model.named_parameters()) for model in models)
    for name, weight in weights.items():
        np.testing.assert_array_equal(weight.detach(), others[name].detach())


def test_files_and_devices_are_left_out_and_named(folder):
    reporter = RecordingReporter()
    recipe = read_preset(folder / "model", reporter=reporter)
    assert "file" not in recipe["vectors"]
    assert "device" not in recipe["train"]
    assert recipe["base"]["name"] == "none"  # or one would be chosen
    assert f"vectors.file = {str(folder / 'v.txt')!r}, train.device = 'cpu'" in reporter.lines[-1]
    assert "settings of the model" in reporter.lines[0]


@pytest.mark.parametrize(
    ("section", "key", "name", "stays"),
    [
        ("base", "name", "english", True),
        ("base", "name", "bases/mine", False),
        ("base", "name", "./mine", False),
        ("pretrained", "name", "organisation/encoder", True),
        ("pretrained", "name", "/models/encoder", False),
        ("syntax", "pipeline", "en_core_web_sm", True),
        ("syntax", "pipeline", "~/parser", False),
    ],
)
def test_names_stay_and_paths_do_not(folder, monkeypatch, section, key, name, stays):
    info = read_info(folder / "model")
    recipe = {**info.training.recipe, section: {key: name}}
    changed = type(info)({"training": {"recipe": recipe}})
    monkeypatch.setattr("headwise.app.configuration.read_info", lambda _: changed)
    assert (key in read_preset(folder / "model")[section]) == stays


def test_another_task_is_an_error(folder):
    with pytest.raises(ConfigError, match="settings are those of the task classify, but the task is tag"):
        read_preset(folder / "model", task="tag")
    assert read_preset(folder / "model", task="classify")["model"]["task"] == "classify"
    with (
        pytest.warns(UserWarning, match="left out"),
        pytest.raises(ConfigError, match="the recipe is for the task 'classify'; a TextTagger"),
    ):
        TextTagger(recipe=folder / "model").fit([["a"], ["b"]] * 4, [["X"], ["Y"]] * 4)


def test_a_model_that_was_saved_without_settings_is_an_error(folder, tmp_path):
    save_model(load_model(folder / "model"), tmp_path / "bare", data={}, training={}, metrics={})
    with pytest.raises(ConfigError, match="bare: the model has no settings of a training run"):
        read_preset(tmp_path / "bare")


def test_estimators_take_a_model_folder(folder):
    texts, labels = [f"a {('good', 'bad')[n % 2]} film {n}" for n in range(40)], ["good", "bad"] * 20
    with pytest.warns(UserWarning, match=r"vectors\.file = "):
        fitted = TextClassifier(recipe=folder / "model", epochs=1).fit(texts, labels)
    assert fitted.recipe_["encoder"]["width"] == 8
    assert fitted.recipe_["classifier"]["class_weights"] == "balanced"
    assert (fitted.recipe_["train"]["epochs"], fitted.recipe_["split"]["seed"]) == (1, 3)
