"""The evaluation of a single-label classifier, as plain numbers to save or show."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np

from headwise.report.reading import Reading, reading_of
from headwise.scores.calibrate import expected_calibration_error
from headwise.scores.metrics import Scores, mean_loss, score
from headwise.scores.targets import likeliest
from headwise.scores.thresholds import decide

MOST_MATRIX = 200
"""The most labels for which all cells of a confusion matrix are saved."""


@dataclass(frozen=True)
class Evaluation:
    """The evaluation of a single-label classifier.

    Attributes:
        scores: Accuracy and its interval, F1, the scores of each label, and the confusion matrix.
        log_loss: Mean cross-entropy of the calibrated probabilities, in nats.
        calibration_error: Expected calibration error of the calibrated probabilities, between 0 and 1.
        reading: Unknown words and truncated texts; None where items have no words.
        probabilities: Calibrated probabilities, `[items, labels]`; not part of the JSON.
        thresholds: The threshold of each label, `[labels]`; None to predict the most probable label.
    """

    scores: Scores
    log_loss: float
    calibration_error: float
    reading: Reading | None
    probabilities: np.ndarray = field(repr=False, compare=False)
    thresholds: Sequence[float] | None = None

    @property
    def predicted(self) -> np.ndarray:
        """The predicted label indices, `[items]`."""
        return decide(self.probabilities, self.thresholds)

    def to_json(self) -> dict[str, Any]:
        """A flat JSON object: the scores, and then the other numbers. With more than `MOST_MATRIX` labels,
        the confusion matrix is a list of its nonzero cells: row, column, count."""
        scores = {metric.name: getattr(self.scores, metric.name) for metric in fields(self.scores)}
        labels, confusion = [asdict(row) for row in scores.pop("labels")], scores.pop("confusion")
        if len(labels) > MOST_MATRIX:
            matrix = np.array(confusion)
            places = np.argwhere(matrix)
            confusion = {"cells": np.column_stack([places, matrix[tuple(places.T)]]).tolist()}
        if self.thresholds is not None:
            pairs = zip(labels, self.thresholds, strict=True)
            labels = [row | {"threshold": threshold} for row, threshold in pairs]
        return {
            **scores,
            "log_loss": self.log_loss,
            "calibration_error": self.calibration_error,
            **(asdict(self.reading) if self.reading else {}),
            "labels": labels,
            "confusion": confusion,
        }

    def worst(self, targets: np.ndarray, count: int) -> list[int]:
        """The indices of the wrongly predicted items, the most confident predictions first.

        Args:
            targets: The true label indices, `[items]`.
            count: The largest number of indices to return.
        """
        wrong = np.flatnonzero(self.predicted != targets)
        sureness = self.probabilities[wrong, self.predicted[wrong]]
        return wrong[np.argsort(-sureness, kind="stable")][:count].tolist()


def evaluate_labels(model: Any, items: Sequence[Any], targets: np.ndarray) -> Evaluation:
    """Predict the labels of items and compare them with the true labels.

    Args:
        model: A classifier of texts, pairs or bags.
        items: One or more items of its type.
        targets: The label indices in the order of `model.labels`, `[items]`, or soft labels,
            `[items, labels]`, with which the loss and the calibration error are computed.

    Raises:
        ValueError: There are no items.
    """
    encoded = model.encoded(items)
    logits = model.logits(encoded)
    probabilities = model.probabilities(logits)
    return Evaluation(
        scores=score(decide(probabilities, model.thresholds), likeliest(targets), model.labels),
        log_loss=mean_loss(model.calibrated(logits), targets),
        calibration_error=expected_calibration_error(probabilities, targets),
        reading=reading_of(encoded),
        probabilities=probabilities,
        thresholds=model.thresholds,
    )
