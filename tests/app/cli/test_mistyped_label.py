"""A label that only a near-duplicate of texts with another label has, such as a mistyped one: every command
that splits its file works."""

import csv
import random
from dataclasses import replace
from pathlib import Path

import pytest

from headwise.artifacts import load_model
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.splits.data_parts import read_parts
from headwise.data.splits.line_lists import drop_listed_items
from headwise.data.splits.split_config import SplitConfig
from headwise.models.tasks import find_task
from headwise.training.settings import RunConfig

WORDS = [
    "printer",
    "badge",
    "screen",
    "door",
    "mouse",
    "cable",
    "phone",
    "laptop",
    "desk",
    "light",
    "window",
]
LABELS = ["hw", "room", "typo"]
SMALL = (
    *("--base", "none", "--epochs", "1", "--words.vector-size", "8"),
    *("--encoder.width", "8", "--encoder.heads", "2", "--encoder.head-size", "4", "--encoder.layers", "1"),
)


@pytest.fixture
def file(tmp_path) -> Path:
    """100 texts, four copies of the first, one of these in capitals and with the label "typo"."""
    rng = random.Random(1)
    rows = []
    for number in range(100):
        words = rng.sample(WORDS, 5)
        label = "hw" if "printer" in words or "mouse" in words else "room"
        rows.append((f"the {' '.join(words)} {number}", label))
    text, label = rows[0]
    rows += [(text, label)] * 3 + [(text.title(), "typo")]
    with open(tmp_path / "reviews.csv", "w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows([("text", "label"), *rows])
    return tmp_path / "reviews.csv"


def test_whatever_the_seed_training_has_all_labels(file):
    item_type = ITEM_TYPES_BY_TASK["classify"]
    for seed in range(40):
        parts = read_parts(item_type, str(file), split=SplitConfig(0.15, 0.15, seed))
        assert {item.label for item in parts.train} == {*LABELS}
        every = [*parts.train, *parts.dev]
        for held_out in range(3):
            folds = item_type.folds(every, 3, seed)
            training = {item.label for item, fold in zip(every, folds, strict=True) if fold != held_out}
            assert training == {*LABELS}


@pytest.mark.parametrize("folds", ["3", "0"])
def test_it_is_trained_on_and_has_an_output(file, run, folds):
    code, _, err = run("train", file, *SMALL, "--folds", folds, "--split.seed", "2", "-o", "m")
    assert code == 0, err
    assert list(map(str, load_model(file.parent / "m").labels)) == LABELS


def test_it_is_searched_for_errors_and_has_a_learning_curve(file, run):
    assert run("noise", file, "--base", "none")[0] == 0
    code, _, err = run("curve", file, "--base", "none", "--seeds", "2")
    assert code == 0, err


def test_a_part_of_the_data_without_a_label_makes_a_model_with_it(file):
    task = find_task("classify")
    parts = read_parts(task.item_type, str(file), split=SplitConfig(0.15, 0.15, 0))
    (file.parent / "drop.csv").write_text("line\n105\n")
    dropped, count = drop_listed_items(parts, str(file.parent / "drop.csv"))
    assert (count, dropped.labels) == (1, ("hw", "room")), "whoever drops all texts of a label, drops it"
    without = replace(parts, train=dropped.train)
    model, _ = task.build(without, RunConfig(), None)
    assert list(model.labels) == LABELS
