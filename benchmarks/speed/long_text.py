"""One text of up to a million words, through every encoder: time for each word, and memory.

    python -m benchmarks.speed.long_text [--only star-transformer ...] [--words 10000 100000 1000000]

Timed is a classifier's prediction for a text that is a string: words, vectors, encoder in its
windows, readout. Weights are random, sizes small (width 64, two layers), one thread. Each measurement is a
line of results/long_text.jsonl; the table shows the last of each.
"""

import argparse
import multiprocessing
import resource
import time
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks import ROOT
from benchmarks.common.runs import append_line, read_lines
from headwise import __version__
from headwise.artifacts import load_model
from headwise.nn.encoders import ENCODERS
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.networks.text_models import TextClassifierModel
from headwise.text.text_configs import WordConfig
from headwise.text.vocabulary import Vocabulary

RESULTS = Path(__file__).parent / "results" / "long_text.jsonl"
FOLDER = ROOT / "tests" / "artifacts" / "golden" / "classify" / "model"
SIZES = {"width": 64, "layers": 2, "heads": 4, "head_size": 16, "feedforward": 128, "dropout": 0.0}
OWN: dict[str, dict[str, Any]] = {
    "ms-san": {"distances": ("word", "none")},
    "tree-lstm": {"hidden": 64, "tree_fallback": "word"},
}
"""What an encoder needs to do without parses; that of the Tree-LSTM is a chain, the deepest of trees."""
LINEAR_MODEL = "a trained model with its linear model"
SYSTEMS = (*ENCODERS, LINEAR_MODEL)
WORDS = [f"w{number}" for number in range(5_000)]
SHORTEST = 1.0  # seconds for which short texts are read again and again


def model_of(system: str) -> Any:
    """A classifier."""
    if system == LINEAR_MODEL:
        return load_model(FOLDER)
    torch.manual_seed(0)
    kind = ENCODERS[system][1]
    names = {field.name for field in fields(kind)}
    encoder = kind(**{name: size for name, size in SIZES.items() if name in names}, **OWN.get(system, {}))
    config = ModelConfig(words=WordConfig(vector_size=64), encoder=encoder, readout="max")
    return TextClassifierModel(config, Vocabulary.build([WORDS]), ["a", "b"]).eval()


def measure(system: str, words: int) -> None:
    """Read a text, as often as takes a few seconds, and add the median to the results."""
    torch.set_num_threads(1)
    model = model_of(system)
    drawn = np.random.default_rng(0).choice(WORDS, words).tolist()
    times = list[float]()
    while not times or sum(times) < SHORTEST:
        text = " ".join(drawn[len(times) :])  # of another length, as graphs of a length are cached
        began = time.process_time()
        model.predict_proba([text])
        times.append(time.process_time() - began)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    result = {"seconds": float(np.median(times)), "rounds": len(times), "megabytes": memory}
    versions = {"headwise": __version__, "torch": torch.__version__}
    append_line(
        RESULTS, {"system": system, "words": words, "window": model.window[0], **result, **versions}
    )


def show(systems: list[str], sizes: list[int]) -> None:
    """Print a table of the stored results."""
    results: dict[tuple[str, int], Any] = {
        (line["system"], line["words"]): line for line in read_lines(RESULTS)
    }
    print(
        "| encoder | window | "
        + " | ".join(f"{words:,} words" for words in sizes)
        + " | last / first | memory |"
    )
    print("|---|" + "---|" * (len(sizes) + 3))
    for system in systems:
        lines = [results.get((system, words)) for words in sizes]
        times = [line and line["seconds"] / line["words"] * 1e6 for line in lines]
        cells = ["-" if per is None else f"{per:.1f} µs" for per in times]
        ratio = f"{times[-1] / times[0]:.2f}" if times[0] and times[-1] else "-"
        window, memory = ("-", "-") if not lines[-1] else (lines[-1]["window"], lines[-1]["megabytes"])
        print(f"| {system} | {window or 'none'} | {' | '.join(cells)} | {ratio} | {memory} MB |")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", nargs="+", default=list(SYSTEMS), choices=SYSTEMS)
    parser.add_argument("--words", nargs="+", type=int, default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--table", action="store_true", help="only print stored results")
    options = parser.parse_args()
    if not options.table:
        for system in options.only:
            for words in options.words:  # a process for each, as memory that was taken is not given back
                process = multiprocessing.get_context("fork").Process(target=measure, args=(system, words))
                process.start()
                process.join()
    show(options.only, options.words)


if __name__ == "__main__":
    main()
