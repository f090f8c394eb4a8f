"""headwise train, evaluate and predict on all of IMDB: time, peak memory, accuracy.

    python -m benchmarks.defaults.imdb                    # the defaults for 25,000 reviews
    python -m benchmarks.defaults.imdb --vectors          # with the review vectors
    python -m benchmarks.defaults.imdb --folder /some/folder -- --epochs 2

Needs the data folder (HEADWISE_DATA, default ../shared/data). What follows `--` goes to `headwise
train`. An interrupted training is resumed when the same command is run again.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import DATA
from benchmarks.defaults.default_sets import REVIEWS
from headwise.data.readers.labelled_files import read_examples


def write_split(part: str, folder: Path) -> Path:
    """One file of `label<TAB>text` from the two files of a split, in a fixed random order."""
    path = folder / f"imdb-{part}.tsv"
    if not path.exists():
        rows = [
            f"{label}\t{example.text}\n"
            for label in ("neg", "pos")
            for example in read_examples(DATA / f"imdb/{part}_{label}.tsv.xz", REVIEWS).items
        ]
        random.Random(0).shuffle(rows)
        path.write_text("".join(["label\ttext\n", *rows]))
    return path


def measured(name: str, *arguments: str) -> dict[str, float | str]:
    """Run a command; wall seconds and peak memory of its process."""
    print(f"$ headwise {' '.join(arguments)}", flush=True)
    began = time.monotonic()
    process = subprocess.Popen([sys.executable, "-m", "headwise", *arguments])
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status):
        sys.exit(f"{name} failed")
    return {"command": name, "seconds": time.monotonic() - began, "peak_mib": usage.ru_maxrss / 1024}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--vectors", action="store_true", help="begin with vectors/reviews_300d.txt.gz")
    parser.add_argument("--folder", type=Path, help="folder of files and model")
    parser.add_argument("options", nargs="*", help="for headwise train")
    arguments = parser.parse_args()
    folder = arguments.folder or Path(tempfile.mkdtemp(prefix="headwise-imdb-"))
    folder.mkdir(parents=True, exist_ok=True)
    train, test = (str(write_split(part, folder)) for part in ("train", "test"))
    model = folder / "model"
    options = list(arguments.options)
    if arguments.vectors:
        options += ["--vectors", str(DATA / "vectors/reviews_300d.txt.gz")]
    again = "--resume" if (model / "training" / "state.safetensors").exists() else "--overwrite"
    output = str(folder / "predictions.csv")
    rows = [
        measured("train", "train", train, "--test", test, "--output", str(model), again, *options),
        measured("evaluate", "evaluate", str(model), test),
        measured("predict", "predict", str(model), test, "--output", output, "--overwrite"),
    ]
    metrics = json.loads((model / "metrics.json").read_text())
    print("\n| command | seconds | peak memory, MiB |\n|---|---|---|")
    for row in rows:
        print(f"| {row['command']} | {row['seconds']:.0f} | {row['peak_mib']:.0f} |")
    print(f"\ntest accuracy {100 * metrics['test']['accuracy']:.2f} %, in {folder}")
    if "baseline" in metrics:
        print(f"{metrics['baseline']['name']}: {100 * metrics['baseline']['accuracy']:.2f} %")


if __name__ == "__main__":
    main()
