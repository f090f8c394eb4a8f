"""headwise train as it comes on as many texts as it is meant for: time, memory, accuracy.

    python -m benchmarks.defaults.many_texts                              # 500,000 sentences
    python -m benchmarks.defaults.many_texts --texts 50000 --folder /some/folder -- --epochs 1
    python -m benchmarks.defaults.many_texts --texts 100000 --sentences 13  # as long as reviews

No labelled set at hand is that large, so these are sentences of the open corpus, and which of its 26 files
each is from (fiction, laws, talks, ...) is its label. The base has read them, without these labels: that
flatters it. With --sentences, a text is so many sentences that follow each other. Needs the data folder
(HEADWISE_DATA, default ../shared/data). What follows `--` goes to `headwise train`.
"""

import argparse
import csv
import json
import lzma
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import DATA

TEXTS, TEST = 500_000, 10_000
FEWEST, MOST = 4, 60
"""Words of a sentence."""
_END = re.compile(r"(?<=[.!?]) ")


def sentences(corpus: Path, joined: int = 1) -> list[tuple[str, str]]:
    """The sentences of a folder of texts (.txt.xz), or texts of several that follow each other, each with
    the name of its file, in random order."""
    texts = []
    for file in sorted(corpus.glob("*.txt.xz")):
        with lzma.open(file, "rt", encoding="utf-8") as lines:
            parts = [part for line in lines for part in _END.split(line.strip())]
        parts = [part for part in parts if FEWEST <= len(part.split()) <= MOST]
        starts = range(0, len(parts) - joined + 1, joined)
        texts += [(" ".join(parts[start : start + joined]), file.name[:-7]) for start in starts]
    random.Random(0).shuffle(texts)
    return texts


def write(rows: list[tuple[str, str]], path: Path) -> str:
    """A csv file of texts and labels; its name."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *rows])
    return str(path)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--texts", type=int, default=TEXTS)
    parser.add_argument("--sentences", type=int, default=1, help="of a text")
    parser.add_argument("--folder", type=Path, help="folder of files and model")
    parser.add_argument("options", nargs="*", help="for headwise train")
    arguments = parser.parse_args()
    folder = arguments.folder or Path(tempfile.mkdtemp(prefix="headwise-many-"))
    folder.mkdir(parents=True, exist_ok=True)
    rows = sentences(DATA / "corpus", arguments.sentences)
    first = max(arguments.texts, TEXTS // arguments.sentences)  # of test: the same for fewer texts
    if len(rows) < first + TEST:
        sys.exit(f"{DATA / 'corpus'} has {len(rows):,} sentences, {first + TEST:,} are needed")
    test = write(rows[first : first + TEST], folder / "test.csv")
    train = write(rows[: arguments.texts], folder / "train.csv")
    model = folder / "model"
    command = ["train", train, "--test", test, "--output", str(model), "--overwrite", *arguments.options]
    process = subprocess.Popen([sys.executable, "-m", "headwise", *command])
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status):
        sys.exit("headwise train failed")
    metrics = json.loads((model / "metrics.json").read_text())
    size = sum(file.stat().st_size for file in model.glob("*.safetensors"))
    minutes = (usage.ru_utime + usage.ru_stime) / 60
    print(
        f"\n{arguments.texts:,} texts: {minutes:.0f} minutes of the processor, "
        f"{usage.ru_maxrss / 1024**2:.1f} GiB at most, {size / 1e6:.0f} MB of weights, in {folder}\n"
        f"test accuracy {100 * metrics['test']['accuracy']:.1f} %, "
        f"{metrics['baseline']['name']} {100 * metrics['baseline']['accuracy']:.1f} %"
    )


if __name__ == "__main__":
    main()
