"""A file of very many rows through `headwise predict`: order kept, memory bounded, resumable at any byte.

    python -m benchmarks.speed.predict_rows --rows 1000000 [--folder build/predict-rows]

A tiny model reads a csv file of short texts with their numbers. The prediction is stopped with SIGKILL and
cut off at random bytes, and resumed; the output is compared, byte by byte, with that of a run that
nothing stopped. The result is a line of results/predict_rows.jsonl.
"""

import argparse
import csv
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from filecmp import cmp
from pathlib import Path

from benchmarks import ROOT
from benchmarks.common.runs import append_line
from headwise import __version__

FOLDER = ROOT / "tests" / "artifacts" / "golden" / "classify" / "model"
WORDS = ("fine", "great", "lovely", "poor", "awful", "dull", "the", "film", "was", "a", "plot", "story")


def write(path: Path, rows: int) -> None:
    """The input: some texts with quotes and line ends in them."""
    chance = random.Random(0)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "text"])
        for number in range(rows):
            text = " ".join(chance.choices(WORDS, k=chance.randint(3, 12)))
            writer.writerow([number, f'"{text}",\nand so on' if number % 97 == 0 else text])


def predict(source: Path, output: Path, *flags: str, until: int | None = None) -> tuple[float, int]:
    """Seconds of the processor of `headwise predict`, and its memory in MB; killed once the output has so
    many bytes."""
    command = [
        sys.executable,
        "-m",
        "headwise",
        "predict",
        str(FOLDER),
        str(source),
        "-o",
        str(output),
        *flags,
    ]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    while (
        until is not None and os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    ):
        if output.exists() and output.stat().st_size >= until:
            process.send_signal(signal.SIGKILL)
            break
        time.sleep(0.01)
    _, status, used = os.wait4(process.pid, 0)
    if status and until is None:
        raise SystemExit(f"{' '.join(command)} failed")
    return used.ru_utime + used.ru_stime, used.ru_maxrss >> 10


def in_order(path: Path, rows: int) -> bool:
    """Whether the output has the rows of the input, each in its place."""
    count = 0
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.reader(file)
        next(reader)
        for count, row in enumerate(reader, start=1):
            if int(row[0]) != count - 1:
                return False
    return count == rows


def interrupted(
    source: Path, complete: Path, again: Path, chance: random.Random
) -> tuple[bool, list[int], int]:
    """Whether output that is killed, cut off and resumed equals uninterrupted output; where it was cut off;
    and its memory in MB.

    An output is only added to, so one that is cut off at a byte is what a kill there leaves. It is killed
    near its beginning, resumed from two bytes anywhere and killed again, and then from a byte near its
    end up to there.
    """
    size, same, memory = complete.stat().st_size, True, 0
    cuts = [0, *(chance.randrange(1, size) for _ in range(2)), size - chance.randrange(1, size // 20)]
    for cut in cuts:
        shutil.copyfile(complete, again)
        os.truncate(again, cut)
        until = None if cut == cuts[-1] else min(cut + chance.randrange(1, size // 40), size - 1)
        _, used = predict(source, again, "--resume", until=until)
        memory = max(memory, used)
        same &= begins(complete, again)
        print(f"gone on from byte {cut:,} to {again.stat().st_size:,}: {same}", flush=True)
    return same and cmp(complete, again, shallow=False), cuts, memory


def begins(complete: Path, again: Path) -> bool:
    """Whether a file begins with all of another."""
    with open(complete, "rb") as first, open(again, "rb") as second:
        return all(first.read(len(piece)) == piece for piece in iter(lambda: second.read(1 << 20), b""))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, default=Path("build/predict-rows"))
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    source, complete, again = (options.folder / name for name in ("input.csv", "whole.csv", "again.csv"))
    write(source, options.rows)
    seconds, memory = predict(source, complete, "--overwrite")
    print(f"{options.rows:,} rows in {seconds:.0f} s of the processor, {memory} MB", flush=True)
    same, cuts, more = interrupted(source, complete, again, random.Random(options.seed))
    result = {
        "rows": options.rows,
        "bytes": complete.stat().st_size,
        "processor_seconds": round(seconds, 1),
        "rows_per_second": round(options.rows / seconds),
        "megabytes": max(memory, more),
        "in_order": in_order(complete, options.rows),
        "cuts": cuts,
        "same_bytes": same,
    }
    append_line(
        Path(__file__).parent / "results" / "predict_rows.jsonl",
        {**result, "seed": options.seed, "headwise": __version__},
    )
    print(result)
    shutil.rmtree(options.folder)


if __name__ == "__main__":
    main()
