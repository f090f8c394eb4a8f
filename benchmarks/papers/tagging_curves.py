"""Does structure make taggers need fewer sentences? Scores by the number of labelled sentences.

    python -m benchmarks.papers.tagging_curves              # everything: some hours of a core; resumable
    python -m benchmarks.papers.tagging_curves --sentences 250 --seeds 1
    python -m benchmarks.papers.tagging_curves --table      # only print stored results
    python docs/make_images.py                              # and draw that of CoNLL-2003

There is no CRF and no network of characters, so that only the encoder sees neighbours. Each word has the
same fixed-size vector of its letters' shape, as the word vectors are lower case. Each seed draws its own
sentences from the training part and is the seed of the training too; test sentences and a sample of the dev
sentences are the same for all. All systems make the same number of steps, and the epoch has the best score
on dev. The networks have half the width of the paper's.
"""

import argparse
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from benchmarks.common.paired_taggers import paired_taggers
from benchmarks.common.runs import Layers, Result, RunsByTask, read_recipe
from benchmarks.defaults.default_figure import figure
from benchmarks.papers.learning_curves import (
    COLOURS,
    NO_POSITIONS,
    Cells,
    DrawnRuns,
    header,
    mean_score,
    parts_of,
    row,
)
from benchmarks.papers.tagging import NAMED, SHAPES, Sentences, Tagging
from headwise.data.items.examples import TaggedSentence

EPOCHS = {250: 30, 1000: 14, 3000: 8}
"""Epochs by the number of labelled sentences: 480 to 1,504 steps of 16 sentences."""
DEV = 500
"""Sentences that choose the epoch."""
WIDTH = 150
SETS = ("conll2003", "wnut17", "ewt-xpos")
POSITIONS = "ms-full-windows + positions"
DIRECTIONS = [
    *(f"window({size}) + {way}" for size in (3, 5, 9) for way in ("forward", "backward")),
    *(f"window({size})" for size in (1, 3, 5, 9)),
]
"""Heads of the recipe `tag-ms-transformer-glove`."""
_FULL: dict[str, Any] = {"scales": ["2/1"]}  # twice the length of the sentence
SYSTEMS: dict[str, tuple[str, dict[str, Any]]] = {
    "ms-transformer": ("tag-ms-transformer", {}),
    "ms-directions": ("tag-ms-transformer", {"priors": DIRECTIONS}),
    "ms-full-windows": ("tag-ms-transformer", _FULL),
    POSITIONS: ("tag-ms-transformer", _FULL | {"positions": "sinusoidal"}),
    "transformer": ("tag-transformer", {"feedforward": 4 * WIDTH}),
    "bilstm": ("tag-bilstm", {}),
}
"""Names, recipes, and the settings of the encoder that differ from the recipe's."""
_NAMES = {
    "ms-directions": "ms-directions: windows, earlier words, later words",
    "bilstm": "BiLSTM",
    "ms-transformer": "ms-transformer: windows",
    "transformer": "Transformer",
    POSITIONS: "the network of ms-transformer with positions, no priors",
    "ms-full-windows": "the same without positions",
}
"""Their names in the picture, the best first."""


class TaggingCurves(DrawnRuns, Tagging):
    """Taggers by the number of labelled sentences; names of data sets such as `wnut17@250`."""

    name = "tagging_curves"
    systems = tuple(SYSTEMS)
    large = ()
    once = ()
    seeds = 5
    paper: ClassVar[Mapping[str, Mapping[str, float]]] = {
        f"{name}@{sentences}": {} for sentences in EPOCHS for name in SETS
    }

    def draw(self, data: Sentences, count: int, seed: int) -> Sentences:
        return replace(data, train=drawn(data.train, count, seed), dev=drawn(data.dev, DEV, 0))

    def layers(self, task: str, system: str) -> Layers:
        name, sentences = parts_of(task)
        recipe, encoder = SYSTEMS[system]
        half: dict[str, Any] = {"width": WIDTH}
        half |= {"hidden": WIDTH // 2} if system == "bilstm" else {"head_size": WIDTH // 10}
        train: dict[str, Any] = {"epochs": EPOCHS[sentences], "batch_texts": 16, "precision": "float32"}
        changed: dict[str, Any] = {
            "vectors": {"file": self.vectors},
            "words": {"vector_size": 200},
            "encoder": half | encoder,
            "train": train | {"score": "f1" if name in NAMED else "accuracy"},
        }
        return [read_recipe(recipe), SHAPES, changed]

    def show(self, by_task: RunsByTask) -> None:
        for head, rows in (
            scores(by_task),
            *(gains(by_task, rival) for rival in ("transformer", POSITIONS)),
        ):
            print("", *header(head), *map(row, rows), sep="\n")


def drawn(sentences: Sequence[TaggedSentence], count: int, seed: int) -> list[TaggedSentence]:
    """`count` of the sentences, in their order; all of them if there are no more."""
    if count >= len(sentences):
        return list(sentences)
    chosen = np.random.default_rng(seed).permutation(len(sentences))[:count]
    return [sentences[number] for number in np.sort(chosen).tolist()]


def measured(by_task: RunsByTask) -> RunsByTask:
    """The runs with the seeds that all systems have, those of one set below one another."""
    both: RunsByTask = {}
    for task in (f"{name}@{sentences}" for name in SETS for sentences in EPOCHS):
        runs = by_task.get(task, {})
        shared = set.intersection(*({run["seed"] for run in runs.get(name, ())} for name in SYSTEMS))
        if shared:
            both[task] = {name: [run for run in runs[name] if run["seed"] in shared] for name in SYSTEMS}
    return both


def scores(by_task: RunsByTask) -> Cells:
    """Mean test scores in percent with their standard deviation over seeds, and the numbers of seeds."""
    rows = [
        [*_task_cells(task), str(len(runs[POSITIONS])), *(_mean(runs[name]) for name in SYSTEMS)]
        for task, runs in measured(by_task).items()
    ]
    return ["F1 or accuracy", "sentences", "seeds", *SYSTEMS], rows


def _task_cells(task: str) -> list[str]:
    name, sentences = parts_of(task)
    return [name, f"{sentences:,}"]


def _mean(runs: Sequence[Result]) -> str:
    values = [100 * run["test"] for run in runs]
    spread = f" ± {statistics.stdev(values):.1f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.1f}{spread}"


def gains(by_task: RunsByTask, rival: str) -> Cells:
    """Differences from a system, with their intervals over seeds and sentences."""
    compared = [name for name in SYSTEMS if name != rival]
    shared = measured(by_task)
    rows = [
        [
            *_task_cells(task),
            *(str(paired_taggers(shared, [task], name, rival) or "-") for name in compared),
        ]
        for task in shared
    ]
    return [f"minus {rival} (95 %)", "sentences", *compared], rows


def picture(by_task: RunsByTask, name: str) -> str:
    """The mean scores on one data set by the number of labelled sentences; one SVG text."""
    by_size = {
        parts_of(task)[1]: runs for task, runs in measured(by_task).items() if parts_of(task)[0] == name
    }
    lines = {
        system: {sentences: mean_score(runs[system]) for sentences, runs in by_size.items()}
        for system in _NAMES
    }
    seeds = min(len(runs[POSITIONS]) for runs in by_size.values())
    score = "F1 of names" if name in NAMED else "Accuracy"
    return figure(
        lines,
        f"{name}, no CRF, mean of {seeds} seeds",
        title=f"{score} by number of labelled sentences",
        colours=COLOURS | {POSITIONS: COLOURS[NO_POSITIONS]},
        names=_NAMES,
    )


def main(arguments: list[str] | None = None) -> int:
    """The command line: that of other benchmarks, and --sentences."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--sentences", nargs="+", type=int, choices=EPOCHS, default=list(EPOCHS))
    chosen, rest = parser.parse_known_args(arguments)
    bench = TaggingCurves()
    if "--only" not in rest:
        rest = ["--only", *(task for task in bench.paper if parts_of(task)[1] in chosen.sentences), *rest]
    return bench.main(__doc__ or "", rest)


if __name__ == "__main__":
    raise SystemExit(main())
