"""headwise train as it comes on as many texts as it is meant for: time, memory, accuracy.

    python -m benchmarks.defaults.many_texts                              # 500,000 sentences
    python -m benchmarks.defaults.many_texts --texts 50000 --folder /some/folder -- --epochs 1

No labelled set at hand is that large, so these are sentences of the open corpus, and which of its 26 files
each is from (fiction, laws, talks, ...) is its label. The base has read them, without these labels: that
flatters it. Needs the data folder (HEADWISE_DATA, default ../shared/data). What stands behind `--` goes to
`headwise train`.
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


def sentences(corpus: Path) -> list[tuple[str, str]]:
    """The sentences of a folder of texts (.txt.xz), each with the name of its file, in random order."""
    found = []
    for file in sorted(corpus.glob("*.txt.xz")):
        with lzma.open(file, "rt", encoding="utf-8") as lines:
            for line in lines:
                own = _END.split(line.strip())
                found += [(text, file.name[:-7]) for text in own if FEWEST <= len(text.split()) <= MOST]
    random.Random(0).shuffle(found)
    return found


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
    parser.add_argument("--folder", type=Path, help="where files and model are kept")
    parser.add_argument("options", nargs="*", help="for headwise train")
    arguments = parser.parse_args()
    folder = arguments.folder or Path(tempfile.mkdtemp(prefix="headwise-many-"))
    folder.mkdir(parents=True, exist_ok=True)
    rows = sentences(DATA / "corpus")
    first = max(arguments.texts, TEXTS)  # of test: the same for fewer texts
    if len(rows) < first + TEST:
        sys.exit(f"{DATA / 'corpus'} has {len(rows):,} sentences, {first + TEST:,} are needed")
    test = write(rows[first : first + TEST], folder / "test.csv")
    train = write(rows[: arguments.texts], folder / "train.csv")
    model = folder / "model"
    asked = ["train", train, "--test", test, "--output", str(model), "--overwrite", *arguments.options]
    process = subprocess.Popen([sys.executable, "-m", "headwise", *asked])
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
