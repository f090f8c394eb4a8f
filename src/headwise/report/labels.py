"""What is to be said of a model on labelled items; plain numbers, to be saved or shown."""

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
"""Labels up to which all cells of a confusion matrix are saved."""


@dataclass(frozen=True)
class Evaluation:
    """A classifier on labelled items.

    Attributes:
        scores: Accuracy and its interval, F1, the labels one by one, and the confusion matrix.
        log_loss: Mean cross-entropy of the calibrated probabilities, in nats.
        calibration_error: Expected calibration error of the calibrated probabilities, between 0 and 1.
        reading: What the model could read; None where items have no words.
        probabilities: Calibrated, `[items, labels]`; not part of the JSON.
        thresholds: Of the labels, where they have any.
    """

    scores: Scores
    log_loss: float
    calibration_error: float
    reading: Reading | None
    probabilities: np.ndarray = field(repr=False, compare=False)
    thresholds: Sequence[float] | None = None

    @property
    def predicted(self) -> np.ndarray:
        """Label numbers, `[items]`."""
        return decide(self.probabilities, self.thresholds)

    def to_json(self) -> dict[str, Any]:
        """A flat JSON object: the scores, and then the other numbers. Of a confusion matrix of more than
        `MOST_MATRIX` labels it has the cells that are not 0: row, column and items of each."""
        scores = {own.name: getattr(self.scores, own.name) for own in fields(self.scores)}
        labels, confusion = [asdict(own) for own in scores.pop("labels")], scores.pop("confusion")
        if len(labels) > MOST_MATRIX:
            matrix = np.array(confusion)
            places = np.argwhere(matrix)
            confusion = {"cells": np.column_stack([places, matrix[tuple(places.T)]]).tolist()}
        if self.thresholds is not None:
            pairs = zip(labels, self.thresholds, strict=True)
            labels = [own | {"threshold": threshold} for own, threshold in pairs]
        return {
            **scores,
            "log_loss": self.log_loss,
            "calibration_error": self.calibration_error,
            **(asdict(self.reading) if self.reading else {}),
            "labels": labels,
            "confusion": confusion,
        }

    def worst(self, targets: np.ndarray, count: int) -> list[int]:
        """The numbers of the items that the model is surest of and wrong about, the surest first.

        Args:
            targets: The true label numbers, `[items]`.
            count: How many to give at most.
        """
        wrong = np.flatnonzero(self.predicted != targets)
        sureness = self.probabilities[wrong, self.predicted[wrong]]
        return wrong[np.argsort(-sureness, kind="stable")][:count].tolist()


def evaluate_labels(model: Any, items: Sequence[Any], targets: np.ndarray) -> Evaluation:
    """Let a classifier label items, and compare with the labels that they have.

    Args:
        model: The model, of texts, pairs or bags.
        items: One or more of what it reads.
        targets: Their label numbers, in the order of `model.labels`, `[items]`, or probabilities of the
            labels, `[items, labels]`, by which the loss and the calibration are judged.

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
