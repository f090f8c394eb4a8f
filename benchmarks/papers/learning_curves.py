"""Does structure make attention need fewer labels? Accuracy by the number of labelled texts, on MTL-16.

    python -m benchmarks.papers.learning_curves     # everything: days of two cores; resumable
    python -m benchmarks.papers.learning_curves --labels 250 --seeds 1
    python -m benchmarks.papers.learning_curves --table   # only print what has been measured

Each seed draws its own labelled texts from the training texts of a domain, with the labels' proportions
kept, and is the seed of the training too. Dev (200 texts) and test texts are the same for all. All encoders
have the same word vectors and number of steps, and the epoch with the least loss on dev.
"""

import argparse
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from benchmarks.common.runs import Found, Layers, marks
from benchmarks.papers.accuracy import Accuracy, task_of
from benchmarks.papers.classifying import LINEAR, Task
from headwise.data.items.examples import Example

EPOCHS = {100: 24, 250: 16, 500: 10, 1400: 6}
"""Epochs by the number of labelled texts: 168 to 525 steps of 16 texts. With 100 and 250 labels the
loss on dev rises long before the last."""
ALL = max(EPOCHS)
"""As many as a domain has, or nearly."""
NO_POSITIONS = "transformer without positions"
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
_DRAWS = 2000


class LearningCurves(Accuracy):
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

    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        self._domain: tuple[str, Task] | None = None
        self._drawn: tuple[str, int] | None = None

    def run(self, task: str, system: str, seed: int, *, paired: bool = False) -> None:
        """Do a run unless its result is there; a seed has its own texts."""
        if self._drawn != (task, seed):
            domain, labels = parts_of(task)
            if self._domain is None or self._domain[0] != domain:
                self._domain = domain, self.load(domain)
            train, dev, test = self._domain[1].three()
            self._data = {task: task_of(drawn(train, labels, seed), dev, test)}
            self._drawn = task, seed
        super().run(task, system, seed, paired=paired)

    def layers(self, task: str, system: str) -> Layers:
        domain, labels = parts_of(task)
        encoder = "transformer" if system == NO_POSITIONS else system
        layers = super().layers(domain, encoder)
        if not layers:
            return []
        changed: dict[str, Any] = {"train": {"epochs": EPOCHS[labels]}}
        if system == NO_POSITIONS:
            changed["encoder"] = {"positions": "none"}
        return [*layers, changed]

    def show(self, found: Found) -> None:
        for line in tables(found):
            print(line)


def parts_of(task: str) -> tuple[str, int]:
    """Domain and number of labelled texts of a data set."""
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


Cells = Mapping[str, Mapping[int, np.ndarray]]
"""Domain -> seed -> which test texts were right, `[texts]`."""


def cells_of(found: Found, labels: int, system: str) -> dict[str, dict[int, np.ndarray]]:
    """The runs of a system with that many labelled texts."""
    cells: dict[str, dict[int, np.ndarray]] = {}
    for task, runs in found.items():
        domain, count = parts_of(task)
        if count == labels:
            right = {
                run["seed"]: marked for run in runs.get(system, []) if (marked := marks(run)) is not None
            }
            if right:
                cells[domain] = right
    return cells


def gain(first: Cells, second: Cells) -> tuple[int, int, float, float, float] | None:
    """One system minus another where both have a run of the same domain and seed.

    Returns:
        Numbers of domains and runs; the mean over domains of the difference in points, and its 95 %
        interval of a bootstrap over domains, seeds within domains, and texts; None where no run is shared.
    """
    pairs = {
        domain: [
            first[domain][seed] - second[domain][seed]
            for seed in sorted(first[domain])
            if seed in second[domain]
        ]
        for domain in first
        if domain in second
    }
    by_domain = [gains for gains in pairs.values() if gains]
    if not by_domain:
        return None
    mean = float(np.mean([np.mean([one.mean() for one in gains]) for gains in by_domain]))
    generator = np.random.default_rng(0)
    means = np.empty(_DRAWS)
    for draw in range(_DRAWS):
        total = 0.0
        for chosen in generator.integers(len(by_domain), size=len(by_domain)):
            gains = by_domain[chosen]
            texts = generator.integers(len(gains[0]), size=len(gains[0]))  # the same texts for all seeds
            seeds = generator.integers(len(gains), size=len(gains))
            total += float(np.mean([gains[seed][texts].mean() for seed in seeds]))
        means[draw] = total / len(by_domain)
    low, high = np.quantile(means, [0.025, 0.975])
    return len(by_domain), sum(map(len, by_domain)), 100 * mean, 100 * float(low), 100 * float(high)


def tables(found: Found) -> list[str]:
    """Mean accuracies, and differences with their intervals, in Markdown; nothing of what has not run."""
    sizes = [labels for labels in EPOCHS if any(cells_of(found, labels, system) for system in SYSTEMS)]
    lines = ["", f"| mean of domains (runs) | {' | '.join(f'{labels:,} labels' for labels in sizes)} |"]
    lines.append("|---" * (len(sizes) + 1) + "|")
    for system in SYSTEMS:
        row = []
        for labels in sizes:
            cells = cells_of(found, labels, system)
            runs = sum(map(len, cells.values()))
            means = [
                statistics.mean(float(one.mean()) for one in seeds.values()) for seeds in cells.values()
            ]
            row.append(f"{100 * statistics.mean(means):.1f} ({runs})" if means else "-")
        lines.append(f"| {system} | {' | '.join(row)} |")
    for rival in RIVALS:
        lines += ["", f"| minus {rival} (95 %) | {' | '.join(f'{labels:,} labels' for labels in sizes)} |"]
        lines.append("|---" * (len(sizes) + 1) + "|")
        for system in SYSTEMS:
            if system == rival:
                continue
            row = []
            for labels in sizes:
                result = gain(cells_of(found, labels, system), cells_of(found, labels, rival))
                if result is None:
                    row.append("-")
                else:
                    domains, runs, mean, low, high = result
                    row.append(f"{mean:+.1f} ({low:+.1f} to {high:+.1f}; {domains} domains, {runs} runs)")
            lines.append(f"| {system} | {' | '.join(row)} |")
    return lines


def main(arguments: list[str] | None = None) -> int:
    """The command line: that of other benchmarks, and --labels."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--labels", nargs="+", type=int, choices=EPOCHS, default=list(EPOCHS))
    chosen, rest = parser.parse_known_args(arguments)
    bench = LearningCurves()
    if "--only" not in rest:
        rest = ["--only", *(task for task in bench.paper if parts_of(task)[1] in chosen.labels), *rest]
    return bench.main(__doc__ or "", rest)


if __name__ == "__main__":
    raise SystemExit(main())
