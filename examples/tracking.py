"""Send the scores of a training run to an experiment tracker.

Run with the name of a training file:  python examples/tracking.py reviews.csv model
"""

import sys
from collections.abc import Mapping
from typing import Protocol

from headwise import train_files


class Tracker(Protocol):
    """What MLflow's module, a run of Weights & Biases or TensorBoard's writer is wrapped in."""

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Log values at a step."""
        ...


class TrackingCallback:
    """Logs the scores of each epoch.

    Args:
        tracker: For example `wandb.init()`, which has this method; for MLflow an object whose `log` calls
            `mlflow.log_metrics(values, step)`, for TensorBoard one that calls `writer.add_scalar`.
    """

    def __init__(self, tracker: Tracker):
        self.tracker, self.step = tracker, 0

    def on_start(self, settings: Mapping[str, object]) -> None:
        self.step = 0

    def on_epoch(self, epoch: int, scores: Mapping[str, float], part: str) -> None:
        self.step += 1  # the folds of cross-fitting begin at epoch 1 again
        prefix = f"{part}/" if part else ""
        self.tracker.log({prefix + name: score for name, score in scores.items()}, self.step)

    def on_end(self, metrics: Mapping[str, object]) -> None:
        scores = metrics.get("test", metrics.get("dev"))
        if isinstance(scores, Mapping):
            numbers = {f"final/{name}": value for name, value in scores.items() if isinstance(value, float)}
            self.tracker.log(numbers, self.step)


class PrintingTracker:
    """A tracker that prints."""

    def log(self, values: Mapping[str, float], step: int) -> None:
        print(step, {name: round(value, 3) for name, value in values.items()})


if __name__ == "__main__":
    train_files(sys.argv[1], sys.argv[2], callbacks=[TrackingCallback(PrintingTracker())])
