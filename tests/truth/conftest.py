"""Data whose truth is known because it was drawn, for every task, and models of them.

An item has a side, which its words (or its numbers) show, and an answer that agrees with the side with
the probability `sure`: with .5 answers are coin flips, with 1.0 they follow a rule. So what the best model
could say of new items is known exactly. A test that asks for `task` runs for every row of `ROWS`.
"""

import csv
import io
import math
import random
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from headwise import train_files
from headwise.app.reporter import Reporter
from headwise.app.training_report import TrainingReport
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.models.tasks import find_task

FILLER = ("the", "a", "film", "plot", "actor", "story", "day", "work", "place", "year", "house", "road")
CUES = (("poor", "awful", "dull", "sad"), ("fine", "great", "lovely", "bright"))
TOPICS = {"price": ("cost", "refund"), "staff": ("rude", "waiter"), "garden": ("tree", "lawn")}
THINGS = ("apple", "bread", "chair", "door", "engine", "flower", "guitar", "hammer", "kettle", "needle")
_OFF = math.sqrt(2 / math.pi)  # numbers of deviation 1 are off by that in the mean
_NAMES = 2 / 7.5  # the share of names among words, about

Item = tuple[Any, Any]
"""A text, two texts, words or instances; and the answer."""


class Row(NamedTuple):
    """A task.

    Attributes:
        draw: So many items, by a chance, whose answers agree with their sides with a probability.
        head: Of a table of the items; None for tagged sentences.
        size: Items to train on.
        numbers: Whether answers are numbers.
        task: Its name where that is not the row's.
    """

    draw: Callable[[int, random.Random, float], list[Item]]
    head: tuple[str, ...] | None
    size: int
    numbers: bool = False
    task: str = ""


def _text(chance: random.Random, cues: Sequence[str], fewest: int = 3) -> list[str]:
    """Some words that say nothing, and these, in any order."""
    words = [*chance.choices(FILLER, k=chance.randint(fewest, fewest + 5)), *cues]
    chance.shuffle(words)
    return words


def _observed(chance: random.Random, side: bool, sure: float) -> bool:
    return side if chance.random() < sure else not side


def texts(count: int, chance: random.Random, sure: float) -> list[Item]:
    """One word decides."""
    items = []
    for _ in range(count):
        side = chance.random() < 0.5
        text = " ".join(_text(chance, [chance.choice(CUES[side])]))
        items.append((text, ("bad", "good")[_observed(chance, side, sure)]))
    return items


def label_sets(count: int, chance: random.Random, sure: float) -> list[Item]:
    """Each label has its words."""
    items = []
    for _ in range(count):
        there = [name for name in TOPICS if chance.random() < 0.4]
        text = " ".join(_text(chance, [chance.choice(TOPICS[name]) for name in there]))
        items.append((text, [name for name in TOPICS if _observed(chance, name in there, sure)]))
    return items


def sentences(count: int, chance: random.Random, sure: float) -> list[Item]:
    """Every word has its tag."""
    items = []
    for _ in range(count):
        words = _text(chance, [chance.choice(CUES[n % 2]) for n in range(2)])
        sides = [word in CUES[1] or (word in FILLER and FILLER.index(word) % 2 > 0) for word in words]
        items.append((words, [("A", "B")[_observed(chance, side, sure)] for side in sides]))
    return items


def names(count: int, chance: random.Random, sure: float) -> list[Item]:
    """Some words are names, of one kind or the other."""
    items = []
    for _ in range(count):
        words = _text(chance, [chance.choice(CUES[chance.random() < 0.5]) for _ in range(2)])
        tags = [
            "O" if word in FILLER else ("B-BAD", "B-GOOD")[_observed(chance, word in CUES[1], sure)]
            for word in words
        ]
        items.append((words, tags))
    return items


def pairs(count: int, chance: random.Random, sure: float) -> list[Item]:
    """Two texts are the same if they are about the same thing."""
    items = []
    for _ in range(count):
        same, one = chance.random() < 0.5, chance.choice(THINGS)
        second = one if same else chance.choice([thing for thing in THINGS if thing != one])
        both = tuple(" ".join(_text(chance, [thing])) for thing in (one, second))
        items.append((both, ("other", "same")[_observed(chance, same, sure)]))
    return items


def _number(chance: random.Random, mean: float, sure: float) -> float:
    """A mean that says as much as `sure`, and chance: of deviation 1, or next to none."""
    return round((2 * sure - 1) * mean + chance.gauss(0, 1 if sure < 1 else 0.05), 3)


def scored_pairs(count: int, chance: random.Random, sure: float) -> list[Item]:
    return [
        (both, _number(chance, 2.0 * (label == "same"), sure)) for both, label in pairs(count, chance, 1.0)
    ]


def scored_texts(count: int, chance: random.Random, sure: float) -> list[Item]:
    """A sum over words."""
    items = []
    for _ in range(count):
        sides = [chance.random() < 0.5 for _ in range(chance.randint(1, 4))]
        text = " ".join(_text(chance, [chance.choice(CUES[side]) for side in sides], 2))
        items.append((text, _number(chance, float(sum(2 * side - 1 for side in sides)), sure)))
    return items


def bags(count: int, chance: random.Random, sure: float) -> list[Item]:
    """The first feature tells, the other is chance."""
    items = []
    for _ in range(count):
        side = chance.random() < 0.5
        instances = [
            (round(chance.gauss(2.0 * side - 1, 0.5), 3), round(chance.gauss(0, 1), 3))
            for _ in range(chance.randint(1, 4))
        ]
        items.append((instances, ("far", "near")[_observed(chance, side, sure)]))
    return items


ROWS = {
    "classify": Row(texts, ("text", "label"), 200),
    "multi-label": Row(label_sets, ("text", "labels"), 200),
    "tag": Row(sentences, None, 100),
    "tag of spans": Row(names, None, 100, task="tag"),
    "pair": Row(pairs, ("sentence1", "sentence2", "label"), 200),
    "pair-score": Row(scored_pairs, ("sentence1", "sentence2", "score"), 200, True),
    "regress": Row(scored_texts, ("text", "score"), 200, True),
    "bags": Row(bags, ("bag", "x1", "x2", "label"), 120),
}


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([head, *rows])
    return out.getvalue()


def written(row: Row, items: Sequence[Item]) -> str:
    """The text of a file of items."""
    if row.head is None:
        lines = ("".join(f"{word}\t{tag}\n" for word, tag in zip(*item, strict=True)) for item in items)
        return "\n".join(lines)
    if row.head[0] == "bag":
        rows = [(f"m{n}", *one, label) for n, (item, label) in enumerate(items) for one in item]
    else:
        rows = [
            (*((x,) if isinstance(x, str) else x), "|".join(y) if isinstance(y, list) else y)
            for x, y in items
        ]
    return table(row.head, rows)


def drawn(task: str, count: int, seed: int, sure: float) -> list[Item]:
    return ROWS[task].draw(count, random.Random(seed), sure)


def task_of(task: str) -> str:
    return ROWS[task].task or task


def entropy(sure: float) -> float:
    """Nats of an answer that agrees with what is known with this probability."""
    return -sum(p * math.log(p) for p in (sure, 1 - sure) if p)


class Heard(Reporter):
    """Keeps what was said."""

    def __init__(self) -> None:
        self.noted: list[str] = []
        self.warned: list[str] = []

    def note(self, text: str) -> None:
        self.noted.append(text)

    def warn(self, text: str) -> None:
        self.warned.append(text)


def metric_part_count(task: str, model: Any, path: Path) -> np.ndarray:
    """Of each item of a file its loss (nats, or how far a number is off), what was right of it, and what
    could be."""
    definition = find_task(task_of(task))
    items = ITEM_TYPES_BY_TASK[definition.name].read(str(path)).items
    return np.asarray(
        definition.metric_parts(model, items, definition.evaluate(model, items)), dtype=np.float64
    )


def doubled(task: str, items: Sequence[Item], seed: int = 9) -> list[Item]:
    """Each item again, as only a reader would notice: in capitals, with other blanks, as a pair the other
    way round; instances in the same order, as they are numbers."""
    chance = random.Random(seed)

    def swapped(x: Any) -> Any:
        if ROWS[task].head is None:
            return [word.upper() for word in x]
        if isinstance(x, str):
            return "  ".join(word.upper() if chance.random() < 0.5 else word for word in x.split())
        return tuple(map(swapped, reversed(x))) if isinstance(x[0], str) else x

    both = [*items, *((swapped(x), y) for x, y in items)]
    chance.shuffle(both)
    return both


class Truth:
    """What the tests ask for: drawn items, their files, models of them, and what is true of them.

    Args:
        folder: For files and models.
    """

    Heard = Heard
    rows, cues = ROWS, CUES
    words: Mapping[str, frozenset[str]] = {
        "cues": frozenset(chain(*CUES)),
        "topics": frozenset(chain(*TOPICS.values())),
        "things": frozenset(THINGS),
    }
    drawn, doubled = staticmethod(drawn), staticmethod(doubled)
    task_of, entropy = staticmethod(task_of), staticmethod(entropy)
    metric_part_count = staticmethod(metric_part_count)

    def __init__(self, folder: Path):
        self._folder, self._made = folder, 0
        self._models: dict[tuple[str, float], TrainingReport] = {}
        self._fresh: dict[tuple[str, float], Path] = {}
        self._folders: dict[int, Path] = {}

    def place(self, name: str) -> Path:
        """A new path."""
        self._made += 1
        return self._folder / f"{name}-{self._made}"

    def file(self, task: str, items: Sequence[Item]) -> Path:
        """A file of items."""
        row, path = ROWS[task], self.place(task.replace(" ", "-"))
        path = path.with_suffix(".conll" if row.head is None else ".csv")
        path.write_text(written(row, items))
        return path

    def train(
        self, task: str, items: Sequence[Item], settings: Mapping[str, Any] | None = None, **how: Any
    ) -> TrainingReport:
        """What the command does by default, with some other settings perhaps; with two folds and not three,
        with bags for a third of the epochs, which take long, and without the encoder of the base, which one
        model of `model` has."""
        quick = {"base": {"encoder": "off"}, "train": {"folds": 2}}
        if task == "bags":
            quick = {"train": {"epochs": 20, "folds": 2}}
        elif task_of(task) == "tag":
            del quick["train"]  # of taggers there is one way alone
        layers = [{"model": {"task": task_of(task)}}, quick, settings or {}]
        folder = self.place("model")
        outcome = train_files(self.file(task, items), folder, settings=layers, **how)
        self._folders[id(outcome.fitted.model)] = folder
        return outcome

    def folder_of(self, outcome: TrainingReport) -> Path:
        """Of its model."""
        return self._folders[id(outcome.fitted.model)]

    def model(self, task: str, sure: float) -> TrainingReport:
        """A model of drawn items, trained when it is first asked for; of coin flips, which one could learn
        by heart, each item stands twice, and a rule has fewer."""
        if (task, sure) not in self._models:
            items = drawn(task, ROWS[task].size * (3 if sure == 1.0 else 4) // 4, 1, sure)
            wide = {"base": {"encoder": "on"}} if (task, sure) == ("classify", 0.5) else {}
            items = doubled(task, items) if sure == 0.5 else items
            self._models[task, sure] = self.train(task, items, wide)
        return self._models[task, sure]

    def fresh(self, task: str, sure: float) -> Path:
        """A file of new items that are drawn in the same way."""
        if (task, sure) not in self._fresh:
            self._fresh[task, sure] = self.file(task, drawn(task, 600, 77_777, sure))
        return self._fresh[task, sure]

    def best(self, task: str, sure: float) -> float:
        """The loss of what is true, in nats; of numbers how far they are off in the mean."""
        if ROWS[task].numbers:
            return _OFF if sure < 1 else 0.05 * _OFF
        return entropy(sure) * (_NAMES if task == "tag of spans" else 1)


@pytest.fixture(scope="session")
def truth(tmp_path_factory) -> Truth:
    return Truth(tmp_path_factory.mktemp("truth"))


def pytest_generate_tests(metafunc):
    """`LEFT_OUT` of a module says for which tasks a test makes no sense, `ONLY` for which alone it does."""
    if "task" in metafunc.fixturenames:
        name, module = metafunc.function.__name__, metafunc.module
        left_out, only = (getattr(module, table, {}).get(name) for table in ("LEFT_OUT", "ONLY"))
        tasks = [task for task in ROWS if task not in (left_out or ()) and task in (only or ROWS)]
        metafunc.parametrize("task", tasks)
