"""Commands of `headwise predict`, start to end, with one process and with several, on the same reviews.

    python -m benchmarks.speed.predict_workers --workers 1 2 --texts 20000 --rounds 3

The seconds are those of a clock, starting and loading included, so nothing else should be running. One
process has all threads, several share them. All take turns; the median of rounds is reported, and whether
their outputs are equal.
"""

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.speed.speed_predict import write_files
from headwise.app.workflows.train import train_files


def seconds(model: Path, texts: Path, output: Path, workers: int) -> float:
    command = [
        "predict",
        str(model),
        str(texts),
        "-o",
        str(output),
        "--overwrite",
        "--workers",
        str(workers),
    ]
    began = time.monotonic()
    subprocess.run([sys.executable, "-m", "headwise", *command], check=True, stderr=subprocess.DEVNULL)
    return time.monotonic() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--texts", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=Path("build/predict-workers"))
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    learn, model = write_files(options.folder, options.texts), options.folder / "model"
    if not model.exists():
        train_files(learn, model, baseline=False)
    texts = options.folder / f"texts-{options.texts}.csv"
    outputs = {workers: options.folder / f"{workers}.csv" for workers in options.workers}
    times: dict[int, list[float]] = {workers: [] for workers in outputs}
    for _ in range(options.rounds):
        for workers, output in outputs.items():
            times[workers].append(seconds(model, texts, output, workers))
    first, *_ = medians = {workers: statistics.median(durations) for workers, durations in times.items()}
    print("| workers | seconds | texts/s | of the first | same output |\n|---|---|---|---|---|")
    for workers, median in medians.items():
        same = outputs[workers].read_bytes() == outputs[first].read_bytes()
        speed, ratio = options.texts / median, medians[first] / median
        print(f"| {workers} | {median:.1f} | {speed:,.0f} | {ratio:.2f} x | {same} |")


if __name__ == "__main__":
    main()
