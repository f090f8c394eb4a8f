"""A task of the tests: how many stars a text gives, judged by how far off the answer is.

The items are texts and the answers labels, of which there is a kind; the model is that of classification.
What is new is how it is judged: all that a task needs for that stands here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from headwise.data.items.labels import label_targets
from headwise.data.splits.data_parts import DataParts
from headwise.models.evaluation.label_evaluation import SingleLabelEvaluation, evaluate_labels
from headwise.models.evaluation.metric_table import (
    ComparisonSystem,
    DifferenceFormat,
    MetricRow,
    MetricTable,
)
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
    answered_file = "STARRED_TEXTS"

    def judge(self, model: Any, items: Any) -> StarsEvaluation:
        found = evaluate_labels(model, items, label_targets(items, model.labels))
        off = distances(model.labels, found.predicted, items)
        return StarsEvaluation(**vars(found), distance=float(off.mean()))

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

    def sheet(self, scores: Mapping[str, Any]) -> MetricTable:
        plain = super().sheet(scores)
        lines = (MetricRow("stars off", "distance", "two", card=True), *plain.lines)
        return MetricTable(
            lines, plain.of, plain.per_class, DifferenceFormat(form="two"), plain.confusion, lower=True
        )


def distances(labels: Any, guessed: np.ndarray, items: Any) -> np.ndarray:
    """How far off guessed label numbers are, `[items]`."""
    stars = np.array([float(label) for label in labels])
    return np.abs(stars[guessed] - np.array([float(item.label) for item in items]))
