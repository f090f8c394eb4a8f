"""What reading reviews without labels is worth where labels are few: encoders with and without it.

    python -m benchmarks.papers.reviews_encoder ms-transformer     # the reading, once
    python -m benchmarks.defaults.few_labels --systems ms-transformer "ms-transformer + masked words"
    python -m benchmarks.defaults.few_labels --table

Of the training reviews of a domain of MTL-16, 250 are trained on, 100 are dev, and all others test ("test"
in the tables); no test text is read. Settings are those of `papers/accuracy.py`, but for 16 epochs. A
seed is a draw, too. An interrupted run is resumed, and what is there is not run again.
"""

import random
from pathlib import Path
from typing import Any, ClassVar

from benchmarks.common.runs import Layers, Result
from benchmarks.papers.accuracy import LINEAR, READ, Accuracy, task_of
from benchmarks.papers.classifying import Task

TEXTS, DEV, EPOCHS = 250, 100, 16
DOMAINS = ("MR", "apparel", "music", "electronics")


class FewLabels(Accuracy):
    """Domains of MTL-16 with a few labels each."""

    name = "few_labels"
    paper: ClassVar[dict[str, Any]] = {f"mtl16/{domain}, {TEXTS} labels": {} for domain in DOMAINS}
    large = ()
    systems = (
        *(f"{name}{how}" for name in ("ms-transformer", "ms-directions", "bilstm") for how in ("", READ)),
        LINEAR,
    )
    more = ()
    once = ()  # nothing is random in the linear model, but its texts are
    seeds = 2

    def load(self, task: str) -> Task:
        return super().load(task.partition(",")[0])

    def layers(self, task: str, system: str) -> Layers:
        layers = super().layers(task, system)
        return [*layers, {"train": {"epochs": EPOCHS}}] if layers else []

    def measure(self, data: Task, task: str, system: str, seed: int, folder: Path) -> Result:
        """Train on the few, and test on the remaining training reviews."""
        items = list(data.parts.train)
        random.Random(seed).shuffle(items)
        drawn = task_of(items[:TEXTS], items[TEXTS : TEXTS + DEV], items[TEXTS + DEV :])
        return super().measure(drawn, task, system, seed, folder)


if __name__ == "__main__":
    FewLabels().command(__doc__ or "")
