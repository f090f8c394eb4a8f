"""How many texts have a window of a part of their length that holds more than one word.

    python -m benchmarks.papers.window_widths
    python -m benchmarks.papers.window_widths --only snli mtl16/MR

A window of n/16 is one word wide, so that its head attends to nothing but the word itself, in texts with
fewer than 32 nodes (the words and a classification node). A table of scales says something about scales
only where most texts are longer than that. The texts are those of training. Needs the data folder
(HEADWISE_DATA, default ../shared/data).
"""

import argparse
import sys

import numpy as np
import torch

from benchmarks.papers.accuracy import Accuracy
from benchmarks.papers.accuracy_page import DOMAINS
from benchmarks.papers.pairs import Pairs
from headwise.nn.priors import Window

FRACTIONS = (16, 8, 4)
TASKS = ("snli", "sick", "sst2", "imdb", *DOMAINS)


def lengths_of(task: str) -> dict[str, np.ndarray]:
    """Nodes of the training texts of a task; of pairs, those of both sides."""
    if task not in ("snli", "sick"):
        return {task: _nodes([example.text for example in Accuracy().load(task).parts.train])}
    pairs = Pairs().load(task).parts.train
    sides = {"first texts": "first", "second texts": "second"}
    return {
        f"{task}, {name}": _nodes([getattr(pair, side) for pair in pairs]) for name, side in sides.items()
    }


def shares(lengths: np.ndarray) -> list[float]:
    """The share of texts in which a window holds more than one word, for each of `FRACTIONS`."""
    nodes = torch.from_numpy(lengths)
    return [float((Window(fraction=1 / part).half(nodes) > 0).float().mean()) for part in FRACTIONS]


def _nodes(texts: list[str]) -> np.ndarray:
    return np.array([len(text.split()) + 1 for text in texts], dtype=np.int64)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", default=list(TASKS), metavar="TASK")
    options = parser.parse_args()
    columns = " | ".join(f"n/{part} sees more than one" for part in FRACTIONS)
    print(f"| training texts | median nodes | {columns} |")
    print("|---" * (2 + len(FRACTIONS)) + "|")
    for task in options.only:
        for name, lengths in lengths_of(task).items():
            cells = [f"{100 * share:.1f} %" for share in shares(lengths)]
            print(f"| {name} | {np.median(lengths):.0f} | {' | '.join(cells)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
