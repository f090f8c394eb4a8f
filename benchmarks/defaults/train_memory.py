"""Peak memory and CPU time of headwise train by phase, on a file of labelled texts.

    python -m benchmarks.defaults.train_memory train.csv test.csv model
    python -m benchmarks.defaults.train_memory --updates 30 train.csv test.csv model -- --epochs 1

A thread looks at the stack of the main thread 20 times per second; the innermost function of `PHASES` is
the phase. With --updates, an epoch ends after so many updates, on whose number memory does not depend.
What follows `--` goes to `headwise train`. For Linux.
"""

import argparse
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from headwise.app.cli import main as run_headwise
from headwise.app.training_plan import TrainingPlan
from headwise.app.training_report import evaluate_run
from headwise.app.training_request import TrainingRequest
from headwise.artifacts.save import save_model
from headwise.data.splits.contamination import find_overlaps
from headwise.data.splits.duplicates import near_duplicate_groups
from headwise.linear.baselines import fit_baseline
from headwise.linear.linear_fit import fit_linear
from headwise.models.tasks.classify import ClassifyTask
from headwise.training import loop
from headwise.training.fit import new_vocabulary

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "reading": TrainingRequest.read,
    "near-duplicates": near_duplicate_groups,
    "planning": TrainingRequest.plan,
    "overlaps of parts": find_overlaps,
    "vocabulary": new_vocabulary,
    "encoding": ClassifyTask.objective,
    "epochs": loop.run_epochs,
    "linear model": fit_linear,
    "rest of training": TrainingPlan.fit,
    "baseline": fit_baseline,
    "evaluation": evaluate_run,
    "saving": save_model,
}
PHASES: dict[CodeType, str] = {function.__code__: name for name, function in _FUNCTIONS.items()}
_BETWEEN = "start, end"
_SECONDS = 0.05


@dataclass
class Usage:
    """Peak resident memory in bytes, and CPU seconds."""

    peak: int = 0
    seconds: float = 0.0


def phase_of(frame: FrameType | None) -> str:
    """The phase that a frame belongs to."""
    while frame is not None:
        if frame.f_code in PHASES:
            return PHASES[frame.f_code]
        frame = frame.f_back
    return _BETWEEN


def peak_since_last_call() -> int:
    """The peak of the resident memory since the last call, bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins again
    return 1024 * int(next(line for line in lines if line.startswith("VmHWM")).split()[1])


def watch(thread: int, phases: dict[str, Usage], done: threading.Event) -> None:
    """Fill in the phases of a thread until it is done."""
    before = time.process_time()
    while not done.wait(_SECONDS):
        usage = phases.setdefault(phase_of(sys._current_frames().get(thread)), Usage())
        now = time.process_time()
        usage.peak, usage.seconds = max(usage.peak, peak_since_last_call()), usage.seconds + now - before
        before = now


def stop_epochs_after(updates: int) -> None:
    """Let an epoch end after so many updates."""
    batches = loop._TrainingRun.epoch_batches

    def first_batches(run: loop._TrainingRun) -> Iterator[list[list[int]]]:
        return islice(batches(run), updates)

    loop._TrainingRun.epoch_batches = first_batches


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("model")
    parser.add_argument("--updates", type=int, help="of an epoch")
    parser.add_argument("options", nargs="*", help="for headwise train")
    arguments = parser.parse_args()
    if arguments.updates:
        stop_epochs_after(arguments.updates)
    phases: dict[str, Usage] = {}
    done = threading.Event()
    watcher = threading.Thread(
        target=watch, args=(threading.main_thread().ident, phases, done), daemon=True
    )
    watcher.start()
    files = arguments.train, "--test", arguments.test, "--output", arguments.model, "--overwrite"
    status = run_headwise(["train", *files, *arguments.options])
    done.set()
    watcher.join()
    print("\n| phase | peak, MiB | CPU seconds |\n|---|---|---|")
    for name, usage in phases.items():
        print(f"| {name} | {usage.peak / 2**20:,.0f} | {usage.seconds:.0f} |")
    sys.exit(status)


if __name__ == "__main__":
    main()
