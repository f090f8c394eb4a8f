"""Does structure make attention need fewer labels? Accuracy by the number of labelled texts, on MTL-16.

    python -m benchmarks.papers.learning_curves     # everything: days of two cores; resumable
    python -m benchmarks.papers.learning_curves --labels 250 --seeds 1
    python -m benchmarks.papers.learning_curves --table   # only print what has been measured
    python -m benchmarks.papers.learning_curves --table --figure curves.svg # and draw it

Each seed draws its own labelled texts from the training texts of a domain, with the labels' proportions
kept, and is the seed of the training too. Dev (200 texts) and test texts are the same for all. All encoders
have the same word vectors and number of steps, and the epoch with the least loss on dev. They have half the
width of the paper's. At most 512 words of a text are trained on, and longer texts are read in windows of
512 words: without that the grid is months of two cores.
"""

import argparse
import statistics
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from benchmarks.common.accuracy_tables import gains_of
from benchmarks.common.differences import Difference, difference
from benchmarks.common.runs import Bench, Found, Layers, Result
from benchmarks.defaults.default_figure import figure
from benchmarks.papers.accuracy import Accuracy, task_of
from benchmarks.papers.classifying import LINEAR, Task
from headwise.data.items.examples import Example

EPOCHS = {100: 24, 250: 16, 500: 10, 1400: 6}
"""Epochs by the number of labelled texts: 168 to 525 steps of 16 texts. With 100 and 250 labels the
loss on dev rises long before the last."""
ALL = max(EPOCHS)
"""As many as a domain has, or nearly."""
NO_POSITIONS = "transformer without positions"
WIDTH, WINDOW = 150, 512
SYSTEMS = (
    "ms-transformer",
    "ms-full-windows",
    "ms-directions",
    "transformer",
    NO_POSITIONS,
    "bilstm",
    LINEAR,
)
RIVALS = ("transformer", "ms-full-windows", LINEAR)
COLOURS = dict(
    zip(SYSTEMS, ("#1f5fbf", "#5aa7d6", "#3a8f7b", "#b03a48", "#d2691e", "#b8860b", "#9aa4ae"), strict=True)
)


class DrawnRuns(Bench):
    """Runs on drawn training items, each seed with its own; names of data sets such as `mtl16/MR@250`."""

    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        self._whole: tuple[str, Any] | None = None
        self._drawn: tuple[str, int] | None = None

    @abstractmethod
    def draw(self, whole: Any, count: int, seed: int) -> Any:
        """A data set with `count` of the training items."""

    def run(self, task: str, system: str, seed: int, *, paired: bool = False) -> None:
        """Do a run unless its result is there."""
        if self._drawn != (task, seed):
            name, count = parts_of(task)
            if self._whole is None or self._whole[0] != name:
                self._whole = name, self.load(name)
            self._data = {task: self.draw(self._whole[1], count, seed)}
            self._drawn = task, seed
        super().run(task, system, seed, paired=paired)


class LearningCurves(DrawnRuns, Accuracy):
    """Domains of MTL-16 by the number of labelled texts; names of data sets such as `mtl16/MR@250`."""

    name = "learning_curves"
    systems = SYSTEMS
    more = ()
    once = ()  # the linear model is not random, its texts are
    seeds = 5
    paper: ClassVar = {
        f"{domain}@{labels}": {}
        for labels in EPOCHS
        for domain in Accuracy.paper
        if domain.startswith("mtl16/")
    }
    large = ()

    def draw(self, whole: Task, count: int, seed: int) -> Task:
        train, dev, test = whole.three()
        return task_of(drawn(train, count, seed), dev, test)

    def layers(self, task: str, system: str) -> Layers:
        domain, labels = parts_of(task)
        encoder = "transformer" if system == NO_POSITIONS else system
        layers = super().layers(domain, encoder)
        if not layers:
            return []
        half: dict[str, Any] = {"width": WIDTH}
        half |= {"hidden": WIDTH // 2} if encoder == "bilstm" else {"head_size": WIDTH // 10}
        if encoder == "transformer":
            half["feedforward"] = 4 * WIDTH
        if system == NO_POSITIONS:
            half["positions"] = "none"
        changed: dict[str, Any] = {
            "train": {"epochs": EPOCHS[labels], "precision": "float32"},
            "encoder": half,
            "windows": {"words": WINDOW, "most_words": WINDOW},
        }
        return [*layers, changed]

    def show(self, found: Found) -> None:
        for line in tables(found):
            print(line)


def parts_of(task: str) -> tuple[str, int]:
    """Name and number of labelled items of a data set."""
    domain, _, labels = task.partition("@")
    return domain, int(labels)


def drawn(train: Sequence[Example], labels: int, seed: int) -> list[Example]:
    """`labels` of the training texts, each label in its proportion; all of them if there are no more."""
    if labels >= min(len(train), ALL):
        return list(train)
    generator = np.random.default_rng(seed)
    by_label: dict[str, list[int]] = {}
    for number, example in enumerate(train):
        by_label.setdefault(example.label or "", []).append(number)
    chosen: list[int] = []
    for _, numbers in sorted(by_label.items()):
        count = round(labels * len(numbers) / len(train))
        chosen.extend(generator.permutation(numbers)[:count])
    return [replace(train[number]) for number in sorted(chosen)]


def runs_of(found: Found, labels: int) -> Found:
    """The runs with that many labelled texts."""
    return {task: systems for task, systems in found.items() if parts_of(task)[1] == labels}


Cells = tuple[list[str], list[list[str]]]
"""The head of a table and its rows."""


def tables(found: Found) -> list[str]:
    """The tables in Markdown; nothing of what has not run."""
    lines: list[str] = []
    for head, rows in (accuracies(found), *(gains(found, rival) for rival in RIVALS)):
        lines += ["", *header(head), *map(row, rows)]
    return lines


def measured(found: Found) -> dict[int, Found]:
    """The runs by the number of labelled texts, of the domains on which all systems have run."""
    by_size = {
        labels: {task: own for task, own in runs_of(found, labels).items() if all(map(own.get, SYSTEMS))}
        for labels in EPOCHS
    }
    return {labels: own for labels, own in by_size.items() if own}


def accuracies(found: Found) -> Cells:
    """Mean accuracies over the domains, and numbers of runs."""
    by_size = measured(found)
    head = ["mean of domains (runs)", *(f"{labels:,} labels" for labels in by_size)]
    return head, [[system, *(mean(own, system) for own in by_size.values())] for system in SYSTEMS]


def gains(found: Found, rival: str) -> Cells:
    """Differences from a system, with their intervals over domains, seeds and texts, and the numbers of
    domains and runs; over the domains on which both systems have run."""
    others = [system for system in SYSTEMS if system != rival]
    beside = {task: systems for task, systems in found.items() if systems.get(rival)}
    sizes = [
        labels
        for labels in EPOCHS
        if any(any(map(systems.get, others)) for systems in runs_of(beside, labels).values())
    ]
    head = [f"minus {rival} (95 %; domains, runs)", *(f"{labels:,} labels" for labels in sizes)]
    rows = []
    for system in others:
        both = {task: systems for task, systems in beside.items() if systems.get(system)}
        pairs = [gains_of(both, list(runs_of(both, labels)), system, rival) for labels in sizes]
        rows.append([system, *(shown(difference(pair, over_tasks=True)) for pair in pairs)])
    return head, rows


def picture(found: Found) -> str:
    """The mean accuracies by the number of labelled texts, over the same domains at every size that most
    domains have; one SVG text."""
    domains = {labels: {parts_of(task)[0] for task in own} for labels, own in measured(found).items()}
    most = max(map(len, domains.values()))
    sizes = [labels for labels, own in domains.items() if 2 * len(own) > most]
    shared = set.intersection(*(domains[labels] for labels in sizes))
    by_size = {
        labels: {f"{domain}@{labels}": found[f"{domain}@{labels}"] for domain in shared} for labels in sizes
    }
    lines = {
        system: {labels: mean_accuracy(own, system) for labels, own in by_size.items()}
        for system in SYSTEMS
    }
    return figure(lines, f"mean of {len(shared)} domains of reviews (MTL-16)", colours=COLOURS)


def mean_accuracy(found: Found, system: str) -> float:
    """The mean over domains of the mean over seeds."""
    return statistics.mean(mean_score(own[system]) for own in found.values())


def mean_score(runs: Sequence[Result]) -> float:
    """The mean over seeds."""
    return statistics.mean(run["test"] for run in runs)


def mean(found: Found, system: str) -> str:
    """The mean in percent, and the number of runs."""
    return f"{100 * mean_accuracy(found, system):.1f} ({sum(len(own[system]) for own in found.values())})"


def shown(gain: Difference | None) -> str:
    return "-" if gain is None else f"{gain}, {gain.tasks}, {gain.runs}"


def header(cells: list[str]) -> list[str]:
    return [row(cells), "|---" * len(cells) + "|"]


def row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def main(arguments: list[str] | None = None) -> int:
    """The command line: that of other benchmarks, --labels and --figure."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--labels", nargs="+", type=int, choices=EPOCHS, default=list(EPOCHS))
    parser.add_argument("--figure", type=Path)
    chosen, rest = parser.parse_known_args(arguments)
    bench = LearningCurves()
    if "--only" not in rest:
        rest = ["--only", *(task for task in bench.paper if parts_of(task)[1] in chosen.labels), *rest]
    status = bench.main(__doc__ or "", rest)
    if chosen.figure is not None and not status:
        chosen.figure.write_text(picture(bench.found(list(bench.paper), list(SYSTEMS))), encoding="utf-8")
    return status


if __name__ == "__main__":
    raise SystemExit(main())
