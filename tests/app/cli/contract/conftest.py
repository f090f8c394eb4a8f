"""The tasks, a row each, and their models, each trained once in a run of the tests.

A test that asks for `task` runs for every row. What a task does not promise yet stands in the test file's
table `DRIFT`, test by test, with the reason; the test then has to fail. What makes no sense for a task, in
its table `LEFT_OUT`.
"""

import csv
import io
import json
import random
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from filelock import FileLock

from headwise.app.cli import main

GOOD, BAD = ("fine", "great", "lovely"), ("poor", "awful", "dull")
FILLER = ("the", "film", "was", "a", "plot", "actor", "story")
ENCODER = "--encoder.layers 1 --encoder.width 8 --encoder.heads 2 --encoder.head-size 4"
SMALL = f"{ENCODER} --words.vector-size 8 --epochs 2 --learning-rate 0.01"
ONCE, TWO_FOLDS = f"{SMALL} --folds 0 --no-refit", f"{SMALL} --folds 2"
TRAINED, TESTED = 80, 24  # items
SIDES = ("bad", "good")


class Row(NamedTuple):
    """A task.

    Attributes:
        make: The text of a data file, of so many items and by a seed.
        suffix: Of its data files.
        flags: For a training of a second.
        score: Where to find a score in what `evaluate --json` prints.
        noun: What its items are called.
        outputs: Suffixes of files to predict into; none where there is nothing to predict.
        plain: Flags that leave out what takes longest: for trainings of which only the exit code counts.
    """

    make: Callable[[int, int], str]
    suffix: str
    flags: str
    score: tuple[str, ...]
    noun: str = "texts"
    outputs: tuple[str, ...] = (".csv", ".jsonl")
    plain: str = " --base none --no-baseline"


class Trained(NamedTuple):
    """A model, its data and what the command said.

    Attributes:
        task: Key of `ROWS`.
        row: The row.
        train: The file that it was trained on.
        test: A test file.
        model: Its folder.
        said: Standard output and standard error.
    """

    task: str
    row: Row
    train: Path
    test: Path
    model: Path
    said: tuple[str, str]

    def training(self, output: Path, flags: str | None = None) -> list:
        """The command that has trained it, into another folder, or one with other flags."""
        given = ("--task", self.task, "--test", self.test, *(flags or self.row.flags).split())
        return ["train", self.train, "--output", output, *given]


def words(chance: random.Random, side: int) -> list[str]:
    """A few words; those that count say on which side they are."""
    own = [*chance.choices(FILLER, k=chance.randint(2, 6)), *chance.choices((BAD, GOOD)[side], k=2)]
    chance.shuffle(own)
    return own


def table(head: list[str], rows: list[list[str]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([head, *rows])
    return out.getvalue()


def texts(count: int, seed: int) -> str:
    chance = random.Random(seed)
    return table(["text", "label"], [[" ".join(words(chance, n % 2)), SIDES[n % 2]] for n in range(count)])


def label_sets(count: int, seed: int) -> str:
    chance = random.Random(seed)
    sets = ("film|bad", "film|good", "bad", "good")
    return table(["text", "labels"], [[" ".join(words(chance, n % 2)), sets[n % 4]] for n in range(count)])


def numbers(count: int, seed: int) -> str:
    chance = random.Random(seed)
    rows = [[" ".join(words(chance, n % 2)), f"{n % 2 * 2 + chance.random():.2f}"] for n in range(count)]
    return table(["text", "score"], rows)


def pairs(count: int, seed: int) -> str:
    return judged_pairs(count, seed, lambda same: ("other", "same")[same])


def judged_pairs(count: int, seed: int, of_same: Callable[[bool], str]) -> str:
    chance, rows = random.Random(seed), []
    for n in range(count):
        first, second = words(chance, n % 2), words(chance, n % 4 // 2)
        rows.append([f"{' '.join(first)} {n}", " ".join(second), of_same(n % 2 == n % 4 // 2)])
    return table(["sentence1", "sentence2", "label"], rows)


def pair_scores(count: int, seed: int) -> str:
    chance = random.Random(seed + 1)
    found = judged_pairs(count, seed, lambda same: f"{4 * same + chance.random():.2f}")
    return found.replace("label", "score", 1)


def sentences(count: int, seed: int) -> str:
    chance, blocks = random.Random(seed), []
    for n in range(count):
        tagged = ((word, "B-X" if word in GOOD + BAD else "O") for word in words(chance, n % 2))
        blocks.append("".join(f"{word}\t{tag}\n" for word, tag in tagged))
    return "\n".join(blocks)


def stream(count: int, seed: int) -> str:
    chance = random.Random(seed)
    return "".join(f"{' '.join(words(chance, n % 2))}.\n" for n in range(count))


def bags(count: int, seed: int) -> str:
    chance = random.Random(seed)
    rows = [
        [f"m{n}", *(f"{chance.gauss(n % 2, 1.0):.3f}" for _ in range(3)), ("far", "near")[n % 2]]
        for n in range(count)
        for _ in range(chance.randint(1, 4))
    ]
    return table(["bag", "x1", "x2", "x3", "label"], rows)


ROWS = {
    "classify": Row(texts, ".csv", SMALL, ("accuracy",)),
    "multi-label": Row(label_sets, ".csv", ONCE, ("micro_f1",)),
    "tag": Row(sentences, ".conll", SMALL, ("tokens", "accuracy"), "sentences", (".jsonl", ".conll")),
    "pair": Row(pairs, ".csv", TWO_FOLDS, ("accuracy",), "pairs"),
    "pair-score": Row(pair_scores, ".csv", ONCE, ("mae",), "pairs"),
    "regress": Row(numbers, ".csv", ONCE, ("mae",)),
    "bags": Row(
        bags,
        ".csv",
        "--bags.width 8 --bags.heads 2 --epochs 4 --folds 2",
        ("accuracy",),
        "bags",
        plain=" --no-baseline",
    ),
    "language-model": Row(
        stream,
        ".txt",
        f"{ENCODER} --encoder.feedforward 8 --language.context 16 --language.windows 20 --epochs 2",
        ("bits_per_character",),
        "characters",
        (),
        " --no-baseline",
    ),
    "masked-words": Row(stream, ".txt", SMALL, ("perplexity",), "texts", (), " --no-baseline"),
}


def pytest_generate_tests(metafunc):
    name, module = metafunc.function.__name__, metafunc.module
    if "task" not in metafunc.fixturenames:
        return
    left_out, drift = (getattr(module, table, {}).get(name, {}) for table in ("LEFT_OUT", "DRIFT"))
    tasks = []
    for task in ROWS:
        if task not in left_out:
            reason = drift.get(task)
            marks = [pytest.mark.xfail(strict=True, reason=reason)] if reason else []
            tasks.append(pytest.param(task, marks=marks))
    metafunc.parametrize("task", tasks)


@pytest.fixture(scope="session")
def rows() -> dict[str, Row]:
    return ROWS


@pytest.fixture(scope="session")
def sizes() -> tuple[int, int]:
    """Items that are trained and tested on."""
    return TRAINED, TESTED


@pytest.fixture(scope="session")
def call():
    """Run a command line in this process; returns (exit code, standard output, standard error)."""

    def call(*arguments) -> tuple[int, str, str]:
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="", write_through=True) for _ in "oe")
        with redirect_stdout(out), redirect_stderr(err):
            code = main([str(argument) for argument in arguments])
        return code, *(own.buffer.getvalue().decode() for own in (out, err))

    return call


@pytest.fixture(scope="session")
def trained_of(call, run_folder):
    """`trained_of(task)`: the model of a task, trained when a process of the tests first asks for it."""

    def of(task: str) -> Trained:
        row, folder = ROWS[task], run_folder / task
        files = [folder / f"{part}{row.suffix}" for part in ("train", "test")]
        own, said = Trained(task, row, *files, folder / "model", ("", "")), folder / "said.json"
        with FileLock(run_folder / f"{task}.lock"):
            if not said.exists():
                folder.mkdir()
                for place, (file, count) in enumerate(zip(files, (TRAINED, TESTED), strict=True)):
                    file.write_text(row.make(count, 100 * place))
                code, *outputs = call(*own.training(own.model))
                assert code == 0, outputs
                said.write_text(json.dumps(outputs))
        return own._replace(said=tuple(json.loads(said.read_text())))

    return cache(of)


@pytest.fixture
def own(trained_of, task) -> Trained:
    """The model of the task."""
    return trained_of(task)
