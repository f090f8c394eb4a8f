"""A task of the tests: a number of stars for each text, evaluated by the mean difference.

It shows what a new task touches in `src`. With the items, labels and network of an existing task:

1. its own file in `models/tasks/`, as this one, with its three parts (`TaskTraining`, `TaskEvaluation` and
   `TaskPresentation`; what it does not override comes from the task that it extends);
2. a row in `TASKS` (`models/tasks/__init__.py`);
3. a row in `ITEM_TYPES_BY_TASK` (`data/items/item_types.py`).

A task with settings, a network and an objective of its own touches three more:

4. its settings, free of torch, in `models/tasks/task_settings.py`;
5. the network in `nn/networks/`;
6. the objective in `training/`.

Items and label types that are new as well are added to `data/items/`. `test_stars` checks the first three,
and counts the files that know the task `masked-words`, which has all of this.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from headwise.data.items.labels import label_targets
from headwise.data.splits.data_parts import DataParts
from headwise.models.label_evaluation import SingleLabelEvaluation, evaluate_labels
from headwise.models.metric_table import DifferenceFormat, MetricRow, MetricTable
from headwise.models.report_parts import ComparisonSystem
from headwise.models.tasks.classify import ClassifyTask


@dataclass(frozen=True)
class StarsEvaluation(SingleLabelEvaluation):
    """The same as of labels, and how far off they are.

    Attributes:
        distance: Mean difference of the stars.
    """

    distance: float = 0.0

    def to_json(self) -> dict[str, Any]:
        return {"distance": self.distance, **super().to_json()}


class Stars(ClassifyTask):
    """A number of stars for each text."""

    name = "stars"
    title, purpose = "judge of stars", "stars for each text"

    def evaluate(self, model: Any, items: Any) -> StarsEvaluation:
        evaluation = evaluate_labels(model, items, label_targets(items, model.labels))
        off = distances(model.labels, evaluation.predicted, items)
        return StarsEvaluation(**vars(evaluation), distance=float(off.mean()))

    def baseline(
        self, parts: DataParts[Any], model: Any, judged: Any, *, refit: bool = False
    ) -> ComparisonSystem | None:
        """The same number of stars for all: the median."""
        stars = np.array([float(item.label) for item in parts.train])
        nearest = min(
            range(len(model.labels)), key=lambda n: abs(float(model.labels[n]) - np.median(stars))
        )
        off = distances(model.labels, np.full(len(parts.test), nearest), parts.test)
        return ComparisonSystem("the median", {"distance": float(off.mean())})

    def metric_table(self, scores: Mapping[str, Any]) -> MetricTable:
        plain = super().metric_table(scores)
        lines = (MetricRow("stars off", "distance", "two", card=True), *plain.lines)
        return MetricTable(
            lines, plain.of, plain.per_class, DifferenceFormat(form="two"), plain.confusion, lower=True
        )


def distances(labels: Any, guessed: np.ndarray, items: Any) -> np.ndarray:
    """How far off guessed label numbers are, `[items]`."""
    stars = np.array([float(label) for label in labels])
    return np.abs(stars[guessed] - np.array([float(item.label) for item in items]))
