"""A whole run as a function: files in, parts made or read, a judged model out."""

import json
from pathlib import Path

import pytest

from headwise.data.errors import DataError
from headwise.data.example import Example
from headwise.errors import HeadwiseError
from headwise.recipe import build_recipe
from headwise.store import load_model
from headwise.train.loop import STATE, remove_run
from headwise.train.run import Texts, choose_settings, read_texts, run

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


def names(part: list[Example]) -> set[str]:
    return {example.text for example in part}


def test_one_file_is_split_into_three(tmp_path):
    train = write(tmp_path / "all.csv", "gb" * 50)
    texts = read_texts(train, None, None, build_recipe())
    assert [len(part) for part in (texts.train, texts.dev, texts.test)] == [70, 15, 15]
    parts = [names(part) for part in (texts.train, texts.dev, texts.test)]
    assert len(set.union(*parts)) == 100
    assert any("split into 70 train, 15 dev, 15 test" in note for note in texts.notes)
    assert texts == read_texts(train, None, None, build_recipe())
    other = read_texts(train, None, None, build_recipe({"split": {"seed": 1}}))
    assert names(other.test) != names(texts.test)


def test_sizes_of_the_parts_can_be_set(tmp_path):
    train = write(tmp_path / "all.csv", "gb" * 50)
    texts = read_texts(train, None, None, build_recipe({"split": {"dev": 0.2, "test": 0.0}}))
    assert [len(part) for part in (texts.train, texts.dev, texts.test)] == [80, 20, 0]


@pytest.mark.parametrize("given", [{"dev"}, {"test"}, {"dev", "test"}])
def test_parts_that_are_given_are_not_split_off(tmp_path, given):
    train = write(tmp_path / "train.csv", "gb" * 50)
    paths = {name: write(tmp_path / f"{name}.csv", "gbb", start=1000) for name in given}
    texts = read_texts(train, paths.get("dev"), paths.get("test"), build_recipe())
    for name in ("dev", "test"):
        part = getattr(texts, name)
        assert len(part) == (3 if name in given else 15)
        assert names(part).isdisjoint(names(texts.train))
    assert len(texts.train) == 100 - 15 * (2 - len(given))


@pytest.mark.parametrize("name", ["dev", "test"])
def test_an_unknown_label_is_located(tmp_path, name):
    train = write(tmp_path / "train.csv", "gb" * 20)
    path = write(tmp_path / "other.csv", "gbm")
    with pytest.raises(DataError, match=r"HW140.*other\.csv:4.*'mixed' does not occur in .*train\.csv"):
        read_texts(train, *((path, None) if name == "dev" else (None, path)), build_recipe())


def test_a_part_without_labels(tmp_path):
    train = write(tmp_path / "train.csv", "gb" * 20)
    (tmp_path / "notes.txt").write_text("one text\nanother one\n")
    with pytest.raises(HeadwiseError, match=r"notes\.txt.*no labels"):
        read_texts(train, None, str(tmp_path / "notes.txt"), build_recipe())


def test_one_label_is_not_enough(tmp_path):
    train = write(tmp_path / "train.csv", "g" * 20)
    with pytest.raises(HeadwiseError, match=r"HW406.*only the label 'good' in 20 texts.*--label-column"):
        read_texts(train, None, None, build_recipe())


def test_no_labels_at_all(tmp_path):
    (tmp_path / "notes.txt").write_text("one text\nanother one\n")
    with pytest.raises(HeadwiseError, match=r"HW406.*no labels in 2 texts \(read as text\)"):
        read_texts(str(tmp_path / "notes.txt"), None, None, build_recipe({"data": {"format": "text"}}))


def test_too_few_texts(tmp_path):
    with pytest.raises(DataError, match="HW141"):
        read_texts(write(tmp_path / "train.csv", "gb"), None, None, build_recipe())


def test_no_dev_part(tmp_path):
    train = write(tmp_path / "train.csv", "gb" * 10)
    with pytest.raises(HeadwiseError, match=r"HW405.*dev"):
        read_texts(train, None, None, build_recipe({"split": {"dev": 0}}))


def test_settings_come_from_the_size_unless_they_are_said(tmp_path):
    texts = read_texts(write(tmp_path / "train.csv", "gb" * 20), None, None, build_recipe())
    asked = ({"train": {"epochs": 3}}, {"encoder": {"layers": 1}})
    settings, vectors = choose_settings(len(texts.train), asked)
    assert vectors is None
    assert (settings.train.epochs, settings.train.batch_texts) == (3, 16)
    assert (settings.model.encoder.layers, settings.model.encoder.width) == (1, 128)
    other, _ = choose_settings(len(texts.train), ({"encoder": {"name": "transformer"}},))
    assert (other.model.encoder.width, other.model.encoder.heads) == (128, 4)


def test_the_size_of_the_vectors_is_that_of_the_file(tmp_path):
    texts = read_texts(write(tmp_path / "train.csv", "gb" * 20), None, None, build_recipe())
    (tmp_path / "v.txt").write_text("film 1 2 3\na 3 4 5\n")
    settings, vectors = choose_settings(len(texts.train), ({"vectors": {"file": str(tmp_path / "v.txt")}},))
    assert vectors is not None
    assert vectors.words == ["film", "a"]
    assert settings.model.words.vector_size == 3
    assert settings.model.encoder.width == 300


@pytest.fixture
def texts(tmp_path) -> Texts:
    return read_texts(write(tmp_path / "all.csv", "gb" * 30), None, None, build_recipe())


def test_a_run_leaves_a_judged_model(tmp_path, texts):
    folder = tmp_path / "model"
    outcome = run(texts, build_recipe(SMALL), None, folder)
    assert outcome.test is not None
    assert outcome.baseline is not None
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
    assert build_recipe(training["recipe"]) == build_recipe(SMALL)
    assert len(training["history"]) == 2
    card = (folder / "README.md").read_text()
    assert "TF-IDF + linear SVM" in card
    assert "This model minus the baseline" in card
    assert f"{100 * outcome.test.scores.accuracy:.1f} %" in card


def test_without_test_texts_there_is_no_score(tmp_path, texts):
    folder = tmp_path / "model"
    outcome = run(Texts(texts.train, texts.dev, [], ()), build_recipe(SMALL), None, folder)
    assert outcome.test is None
    assert outcome.baseline is None
    assert {"test", "baseline"}.isdisjoint(json.loads((folder / "metrics.json").read_text()))


def test_without_a_baseline(tmp_path, texts):
    outcome = run(texts, build_recipe(SMALL), None, tmp_path / "model", baseline=False)
    assert outcome.test is not None
    assert outcome.baseline is None


def test_labels_that_only_training_has(tmp_path):
    train = [Example(GOOD.format(n), "good") for n in range(20)]
    train += [Example(BAD.format(n), "bad") for n in range(20)] + [Example("so so", "mixed")]
    dev, test = [train[0]], [train[25]]
    outcome = run(Texts(train, dev, test, ()), build_recipe(SMALL), None, tmp_path / "model")
    assert outcome.fitted.model.labels == ("bad", "good", "mixed")


def test_removing_a_run_leaves_what_is_not_its(tmp_path):
    for name in (STATE, "best-2.safetensors", STATE + ".partial", "mine.csv"):
        (tmp_path / name).touch()
    remove_run(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.csv"]
    (tmp_path / "mine.csv").unlink()
    remove_run(tmp_path)
    assert not tmp_path.exists()
    remove_run(tmp_path)
