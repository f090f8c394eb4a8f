"""Does structure make attention need fewer labels? Accuracy by the number of labelled texts, on MTL-16.

    python -m benchmarks.papers.learning_curves     # everything: days of two cores; resumable
    python -m benchmarks.papers.learning_curves --labels 250 --seeds 1
    python -m benchmarks.papers.learning_curves --table   # only print stored results
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
from benchmarks.common.runs import Bench, Layers, Result, RunsByTask
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
        self._loaded: tuple[str, Any] | None = None
        self._drawn: tuple[str, int] | None = None

    @abstractmethod
    def draw(self, data: Any, count: int, seed: int) -> Any:
        """A data set with `count` of the training items."""

    def run(self, task: str, system: str, seed: int, *, paired: bool = False) -> None:
        """Do a run unless its result is there."""
        if self._drawn != (task, seed):
            name, count = parts_of(task)
            if self._loaded is None or self._loaded[0] != name:
                self._loaded = name, self.load(name)
            self._data = {task: self.draw(self._loaded[1], count, seed)}
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

    def draw(self, data: Task, count: int, seed: int) -> Task:
        train, dev, test = data.three()
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

    def show(self, by_task: RunsByTask) -> None:
        for line in tables(by_task):
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


def runs_of(by_task: RunsByTask, labels: int) -> RunsByTask:
    """The runs with that many labelled texts."""
    return {task: systems for task, systems in by_task.items() if parts_of(task)[1] == labels}


Cells = tuple[list[str], list[list[str]]]
"""The head of a table and its rows."""


def tables(by_task: RunsByTask) -> list[str]:
    """The tables in Markdown; nothing of what has not run."""
    lines: list[str] = []
    for head, rows in (accuracies(by_task), *(gains(by_task, rival) for rival in RIVALS)):
        lines += ["", *header(head), *map(row, rows)]
    return lines


def measured(by_task: RunsByTask) -> dict[int, RunsByTask]:
    """The runs by the number of labelled texts, of the domains on which all systems have run."""
    by_size = {
        labels: {
            task: systems
            for task, systems in runs_of(by_task, labels).items()
            if all(map(systems.get, SYSTEMS))
        }
        for labels in EPOCHS
    }
    return {labels: runs for labels, runs in by_size.items() if runs}


def accuracies(by_task: RunsByTask) -> Cells:
    """Mean accuracies over the domains, and numbers of runs."""
    by_size = measured(by_task)
    head = ["mean of domains (runs)", *(f"{labels:,} labels" for labels in by_size)]
    return head, [[system, *(mean(runs, system) for runs in by_size.values())] for system in SYSTEMS]


def gains(by_task: RunsByTask, rival: str) -> Cells:
    """Differences from a system, with their intervals over domains, seeds and texts, and the numbers of
    domains and runs; over the domains on which both systems have run."""
    compared = [system for system in SYSTEMS if system != rival]
    with_rival = {task: systems for task, systems in by_task.items() if systems.get(rival)}
    sizes = [
        labels
        for labels in EPOCHS
        if any(any(map(systems.get, compared)) for systems in runs_of(with_rival, labels).values())
    ]
    head = [f"minus {rival} (95 %; domains, runs)", *(f"{labels:,} labels" for labels in sizes)]
    rows = []
    for system in compared:
        both = {task: systems for task, systems in with_rival.items() if systems.get(system)}
        pairs = [gains_of(both, list(runs_of(both, labels)), system, rival) for labels in sizes]
        rows.append([system, *(shown(difference(pair, over_tasks=True)) for pair in pairs)])
    return head, rows


def picture(by_task: RunsByTask) -> str:
    """The mean accuracies by the number of labelled texts, over the same domains at every size that most
    domains have; one SVG text."""
    domains = {labels: {parts_of(task)[0] for task in runs} for labels, runs in measured(by_task).items()}
    most = max(map(len, domains.values()))
    sizes = [labels for labels, group in domains.items() if 2 * len(group) > most]
    shared = set.intersection(*(domains[labels] for labels in sizes))
    by_size = {
        labels: {f"{domain}@{labels}": by_task[f"{domain}@{labels}"] for domain in shared}
        for labels in sizes
    }
    lines = {
        system: {labels: mean_accuracy(runs, system) for labels, runs in by_size.items()}
        for system in SYSTEMS
    }
    return figure(lines, f"mean of {len(shared)} domains of reviews (MTL-16)", colours=COLOURS)


def mean_accuracy(by_task: RunsByTask, system: str) -> float:
    """The mean over domains of the mean over seeds."""
    return statistics.mean(mean_score(systems[system]) for systems in by_task.values())


def mean_score(runs: Sequence[Result]) -> float:
    """The mean over seeds."""
    return statistics.mean(run["test"] for run in runs)


def mean(by_task: RunsByTask, system: str) -> str:
    """The mean in percent, and the number of runs."""
    runs = sum(len(systems[system]) for systems in by_task.values())
    return f"{100 * mean_accuracy(by_task, system):.1f} ({runs})"


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
        chosen.figure.write_text(
            picture(bench.current_runs(list(bench.paper), list(SYSTEMS))), encoding="utf-8"
        )
    return status


if __name__ == "__main__":
    raise SystemExit(main())
