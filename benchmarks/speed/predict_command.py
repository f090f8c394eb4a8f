"""`headwise predict` as a command, from csv to csv: CPU time per text of models and of fastText, in turns.

    python -m benchmarks.speed.predict_command TEXTS.csv MODEL ... [--fasttext LEARN.csv] [--rounds 5]

A command is timed with the file and with its first text alone, and the difference counts, so starting and
loading do not. Times are CPU seconds on one thread; rounds take turns, and medians are shown. fastText
learns from LEARN.csv (columns text and label), and reads and writes the same csv files; it is timed without
its start as well. Each table holds figures of one run, as other programs may slow down all of them.
"""

import argparse
import csv
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

from benchmarks.speed.speed_predict import fasttext, read_csv, rival


def cpu_seconds(command: Sequence[str]) -> float:
    """CPU seconds of a command and its children, on one thread."""
    process = subprocess.Popen(
        command,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status):
        raise RuntimeError(f"{' '.join(command)} failed")
    return usage.ru_utime + usage.ru_stime


def own_cpu_seconds(run: Callable[[], object]) -> float:
    """CPU seconds of a function in this process."""
    began = time.process_time()
    run()
    return time.process_time() - began


def headwise_seconds(model: str, texts: Path, first: Path, output: Path) -> Callable[[], float]:
    """A function that returns the CPU seconds for all texts but the first."""
    start = [sys.executable, "-m", "headwise", "predict", model]
    end = ["--output", str(output), "--overwrite"]
    return lambda: cpu_seconds([*start, str(texts), *end]) - cpu_seconds([*start, str(first), *end])


def main(arguments: Sequence[str] | None = None) -> None:
    """Time the systems, and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("texts", type=Path, help="csv file with a column text")
    parser.add_argument("models", nargs="*", help="model folders")
    parser.add_argument("--fasttext", type=Path, metavar="LEARN.csv", help="compare with fastText")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(arguments)
    with open(options.texts, newline="", encoding="utf-8") as file:
        head = list(islice(csv.reader(file), 2))
        count = 1 + sum(1 for _ in csv.reader(file))
    with tempfile.TemporaryDirectory() as folder:
        output, first = Path(folder) / "predicted.csv", Path(folder) / "first.csv"
        with open(first, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(head)
        systems: dict[str, Callable[[], float]] = {
            Path(model).name: headwise_seconds(model, options.texts, first, output)
            for model in options.models
        }
        if options.fasttext is not None:
            run = rival(fasttext(read_csv(options.fasttext)), options.texts, output)
            systems["fastText"] = lambda: own_cpu_seconds(run)
        times: dict[str, list[float]] = {name: [] for name in systems}
        for _ in range(options.rounds):
            for name, seconds in systems.items():
                times[name].append(seconds())
    print(
        f"{count:,} texts, {options.rounds} rounds\n\n| system | us per text | texts/s | lowest, highest |"
    )
    print("|---|---|---|---|")
    for name, seconds in times.items():
        low, high = count / max(seconds), count / min(seconds)
        middle = statistics.median(seconds)
        print(f"| {name} | {1e6 * middle / count:.0f} | {count / middle:,.0f} | {low:,.0f}, {high:,.0f} |")


if __name__ == "__main__":
    main()
