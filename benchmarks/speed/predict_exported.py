"""Commands of `headwise predict`, from start to end, with a model folder and with what was exported of it.

    python -m benchmarks.speed.predict_exported --texts 1 2000 --rounds 5
    python -m benchmarks.speed.predict_exported --tags --rounds 5     # a tagger, on WNUT-17

The seconds are those of a clock, starting and loading included, so nothing else should be running. The two
take turns; medians of rounds and the differences of their outputs are reported. `--python` names the Python
of an environment without torch, which then predicts with what was exported.
"""

import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks import DATA
from benchmarks.speed.speed_predict import write_files
from headwise.app.workflows.export import export_model
from headwise.app.workflows.train import train_files
from headwise.artifacts import load_model


def seconds(python: str, model: Path, texts: Path, output: Path) -> tuple[float, float]:
    """How long a command took, by the clock, and its share of the processor's time."""
    command = ["predict", str(model), str(texts), "-o", str(output), "--overwrite"]
    began, used = time.monotonic(), os.times()
    subprocess.run([python, "-m", "headwise", *command], check=True, stderr=subprocess.DEVNULL)
    after = os.times()
    spent = after.children_user + after.children_system - used.children_user - used.children_system
    return time.monotonic() - began, spent


def difference(first: Path, second: Path) -> tuple[float, int]:
    """By how much the probabilities of two files differ at most, and how many labels (of words tags) do."""
    if first.suffix == ".jsonl":
        pairs = [
            [json.loads(line) for line in both]
            for both in zip(*(path.read_text().splitlines() for path in (first, second)), strict=True)
        ]
        chances = (zip(*(row["probabilities"] for row in both), strict=True) for both in pairs)
        away = max(abs(p - q) for both in chances for p, q in both)
        return away, sum(a != b for x, y in pairs for a, b in zip(x["tags"], y["tags"], strict=True))
    tables = []
    for path in (first, second):
        with open(path, newline="", encoding="utf-8") as file:
            tables.append(list(csv.DictReader(file)))
    names = [name for name in tables[0][0] if name.startswith("probability")]
    pairs = list(zip(*tables, strict=True))
    away = max(abs(float(a[name]) - float(b[name])) for a, b in pairs for name in names)
    return away, sum(a["prediction"] != b["prediction"] for a, b in pairs)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--texts", type=int, nargs="+", default=[1, 2_000])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--alone", action="store_true", help="an encoder without a linear model")
    parser.add_argument("--tags", action="store_true", help="a tagger, of WNUT-17's test sentences")
    parser.add_argument("--folder", type=Path, default=Path("build/predict-exported"))
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    name = "tags" * options.tags + ("alone" if options.alone else "default")
    model, exported = (options.folder / f"{kind}-{name}" for kind in ("model", "exported"))
    settings: dict[str, dict[str, Any]] = {"linear_model": {"kind": "none"}} if options.alone else {}
    if options.tags:
        learn, files = (
            DATA / "wnut17/wnut17train.conll.gz",
            {1_287: DATA / "wnut17/emerging.test.annotated.gz"},
        )
        settings |= {"model": {"task": "tag"}, "train": {"epochs": 3}}
    else:
        learn, files = Path(), {}
        for count in options.texts:
            learn = write_files(options.folder, count)
            files[count] = options.folder / f"texts-{count}.csv"
    if not model.exists():
        train_files(learn, model, settings=[settings], baseline=False)
    export_model(model, exported, overwrite=True)
    say = load_model(model).encoder_weight > 0
    print(f"the encoder has {'a' if say else 'no'} say beside the linear model")
    for folder in (model, exported):
        size = sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
        print(f"{folder.name}: {size / 1e6:.1f} MB")
    print("| texts | folder | seconds | of the processor | texts/s | differs by | other labels |")
    print("|---|---|---|---|---|---|---|")
    suffix = ".jsonl" if options.tags else ".csv"
    for count, texts in files.items():
        ways = {"model": (sys.executable, model), "exported": (options.python, exported)}
        times: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
        for _ in range(options.rounds):
            for way, (python, folder) in ways.items():
                times[way].append(seconds(python, folder, texts, options.folder / f"{way}{suffix}"))
        away, other_labels = difference(*(options.folder / f"{way}{suffix}" for way in ways))
        for way, timings in times.items():
            clock, spent = (statistics.median(column) for column in zip(*timings, strict=True))
            differences = f"{away:.1g} | {other_labels}" if way == "exported" else "- | -"
            print(
                f"| {count:,} | {way} | {clock:.2f} | {spent:.2f} | {count / clock:,.0f} | {differences} |"
            )


if __name__ == "__main__":
    main()
