"""A task is added by one file and a row in each of the two tables; everything else knows it then."""

import contextlib
import importlib
import io
import json
import random
import re
import sys
from pathlib import Path

import pytest

from headwise import load_model, train_files
from headwise.app.cli import main
from headwise.app.cli.flags import flags_of
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.items.label_types import SINGLE_LABEL_TYPE
from headwise.data.items.text_items import TextItems
from headwise.models.tasks import TASKS, find_task
from headwise.models.tasks.task import Task, TaskEvaluation, TaskPresentation
from headwise.models.tasks.task_settings import ClassifySettings
from headwise.models.tasks.task_training import TaskTraining

SMALL = {
    "model": {"task": "stars"},
    "encoder": {"width": 8, "heads": 2, "head_size": 4, "layers": 1},
    "words": {"vector_size": 8},
    "train": {"epochs": 3, "learning_rate": 0.01},
}


@pytest.fixture
def stars(monkeypatch):
    """The task in both tables."""
    spec = importlib.util.spec_from_file_location("stars", Path(__file__).with_name("stars.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert len(Path(module.__file__).read_text().splitlines()) < 120
    monkeypatch.setitem(ITEM_TYPES_BY_TASK, "stars", TextItems(SINGLE_LABEL_TYPE))
    monkeypatch.setitem(sys.modules, "stars", module)
    monkeypatch.setitem(TASKS, "stars", ClassifySettings("stars.Stars"))
    return module


@pytest.fixture
def trained(stars, tmp_path):
    chance = random.Random(0)
    words = ["awful", "poor", "fair", "good", "great"]
    rows = [f"the film {n} was {words[n % 5]} {chance.choice('abc')},{n % 5 + 1}" for n in range(200)]
    (tmp_path / "films.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    train_files(tmp_path / "films.csv", tmp_path / "model", settings=[SMALL])
    return tmp_path


def call(*arguments) -> tuple[int, str]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = main([str(argument) for argument in arguments])
    return code, out.getvalue()


def test_it_trains_and_is_saved_with_its_report(trained):
    assert load_model(trained / "model").labels == ("1", "2", "3", "4", "5")
    metrics = json.loads((trained / "model" / "metrics.json").read_text())
    assert metrics["test"]["distance"] < metrics["baseline"]["distance"]
    card = (trained / "model" / "README.md").read_text()
    assert "# A headwise judge of stars" in card
    assert "stars off" in card
    assert "the median" in card


def test_it_is_judged_and_predicts(trained):
    model, file = trained / "model", trained / "films.csv"
    code, out = call("evaluate", model, file)
    assert code == 0
    assert "stars off" in out
    code, _ = call("predict", model, file, "--output", trained / "out.csv")
    assert code == 0
    assert len((trained / "out.csv").read_text().splitlines()) == 201
    code, out = call("doctor", file, "--task", "stars")
    assert code == 0


def test_it_stands_in_the_help(stars):
    train = importlib.import_module("headwise.app.cli.train_command")
    flags_of.cache_clear()
    importlib.reload(train)
    code, out = call("train", "--help")
    flags_of.cache_clear()
    importlib.reload(train)
    assert code == 0
    assert "stars" in out


def test_its_name_stands_nowhere_else(stars):
    """`src` knows the task by the two tables alone: nothing in it is written for this task."""
    package = Path(importlib.import_module("headwise").__file__).parent
    assert not [path for path in package.rglob("*.py") if "Stars" in path.read_text("utf-8")]
    assert find_task("stars").item_type is ITEM_TYPES_BY_TASK["stars"]


@pytest.mark.parametrize("part", [TaskTraining, TaskEvaluation, TaskPresentation])
def test_what_a_task_must_define_stands_in_its_part(part):
    """All that is abstract in the parts is abstract in `Task`, and no part overrides another."""
    parts = {TaskTraining, TaskEvaluation, TaskPresentation} - {part}
    members = {name for name in vars(part) if not name.startswith("_")}
    assert part.__abstractmethods__ <= Task.__abstractmethods__
    assert not any(members & set(vars(sibling)) for sibling in parts)


def test_files_that_know_masked_words():
    """The task of which most is new: a row in each table, its files, who starts from such models, and the
    two unions of types for annotations."""
    package = Path(importlib.import_module("headwise").__file__).parent
    sources = {
        path.relative_to(package).as_posix(): path.read_text("utf-8") for path in package.rglob("*.py")
    }
    named = {path for path, text in sources.items() if '"masked-words"' in text}
    assert named == {
        "data/items/item_types.py",
        "models/tasks/__init__.py",
        "models/tasks/masked_words.py",
    }
    classes = ("Masked(Model|WordsTask|WordsSettings|WordType|Objective|Scores)", "UnlabelledTextItems")
    assert sum(bool(re.search("|".join(classes), text)) for text in sources.values()) <= 12
