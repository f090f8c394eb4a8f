"""What is to be said of a model on texts with known sets of labels; to be saved or shown."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.data.example import Example
from headwise.models.label_set_model import LabelSetModel
from headwise.report.reading import Reading, reading_of
from headwise.scores.binary import binary_calibration_error, mean_binary_loss
from headwise.scores.label_set_metrics import LabelSetScores, label_set_scores


@dataclass(frozen=True)
class LabelSetEvaluation:
    """A model on texts with known sets of labels.

    Attributes:
        scores: F1, subset accuracy, ranking, and the labels one by one.
        log_loss: Mean binary cross-entropy of a label's calibrated probability, in nats.
        calibration_error: Mean gap between probabilities and how often they hold, between 0 and 1.
        reading: What the model could read.
        probabilities: Calibrated, `[texts, labels]`; not part of the JSON.
        given: Which labels the texts get, `[texts, labels]`; likewise.
    """

    scores: LabelSetScores
    log_loss: float
    calibration_error: float
    reading: Reading | None
    probabilities: NDArray[np.float64] = field(repr=False, compare=False)
    given: NDArray[np.bool_] = field(repr=False, compare=False)

    def to_json(self) -> dict[str, Any]:
        """A flat JSON object: the scores, and then the other numbers."""
        scores = asdict(self.scores)
        labels = scores.pop("labels")
        return {
            **scores,
            "log_loss": self.log_loss,
            "calibration_error": self.calibration_error,
            **(asdict(self.reading) if self.reading else {}),
            "labels": labels,
        }

    def worst(self, targets: NDArray[np.bool_], count: int) -> list[int]:
        """The numbers of the texts with a wrong label that the model is surest of, the surest first."""
        wrong = np.where(self.given != targets, np.abs(self.probabilities - targets), 0.0).max(axis=1)
        order = np.argsort(-wrong, kind="stable")
        return [int(text) for text in order[:count] if wrong[text] > 0]


def evaluate_label_sets(
    model: LabelSetModel, texts: Sequence[str | Example], targets: NDArray[np.bool_]
) -> LabelSetEvaluation:
    """Let a model label texts, and compare with the labels that they have.

    Args:
        model: The model.
        texts: One or more texts.
        targets: Whether each has each of `model.labels`, `[texts, labels]`.

    Raises:
        ValueError: There are no texts.
    """
    encoded = model.features.encode(texts)
    logits = model.logits(encoded)
    probabilities = model.probabilities(logits)
    thresholds = np.array(model.thresholds)
    return LabelSetEvaluation(
        scores=label_set_scores(probabilities, thresholds, targets, model.labels),
        log_loss=mean_binary_loss(model.calibrated(logits), targets),
        calibration_error=binary_calibration_error(probabilities, targets),
        reading=reading_of(encoded),
        probabilities=probabilities,
        given=model.given(probabilities),
    )
