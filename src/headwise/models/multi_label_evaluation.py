"""The evaluation of a multi-label classifier, as plain numbers to save or show."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from headwise.core.config import JsonObject
from headwise.data.items.examples import Example
from headwise.metrics.multi_label_scores import (
    MultiLabelScores,
    binary_calibration_error,
    mean_binary_loss,
    multi_label_scores,
)
from headwise.models.label_evaluation import VocabularyCoverage, vocabulary_coverage

if TYPE_CHECKING:
    from headwise.nn.networks.text_models import MultiLabelModel


@dataclass(frozen=True)
class MultiLabelEvaluation:
    """The evaluation of a multi-label classifier.

    Attributes:
        scores: F1, subset accuracy, ranking metrics, and the scores of each label.
        log_loss: Mean binary cross-entropy of a label's calibrated probability, in nats.
        calibration_error: Expected calibration error of the label probabilities, between 0 and 1.
        reading: Unknown words and truncated texts; None where items have no words.
        probabilities: Calibrated probabilities, `[texts, labels]`; not part of the JSON.
        predicted: Whether each label is predicted, `[texts, labels]`; not part of the JSON.
    """

    scores: MultiLabelScores
    log_loss: float
    calibration_error: float
    reading: VocabularyCoverage | None
    probabilities: NDArray[np.float64] = field(repr=False, compare=False)
    predicted: NDArray[np.bool_] = field(repr=False, compare=False)

    def to_json(self) -> JsonObject:
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
        """The indices of the texts with a wrong label, the most confidently wrong first."""
        wrong = np.where(self.predicted != targets, np.abs(self.probabilities - targets), 0.0).max(axis=1)
        order = np.argsort(-wrong, kind="stable")
        return [int(text) for text in order[:count] if wrong[text] > 0]


def evaluate_multi_label(
    model: "MultiLabelModel", texts: Sequence[str | Example], targets: NDArray[np.bool_]
) -> MultiLabelEvaluation:
    """Predict the labels of texts and compare them with the true labels.

    Args:
        model: The model.
        texts: One or more texts.
        targets: Whether each text has each of `model.labels`, `[texts, labels]`.

    Raises:
        ValueError: There are no texts.
    """
    encoded = model.features.encode(texts)
    logits = model.logits(encoded)
    probabilities = model.probabilities(logits)
    thresholds = np.array(model.thresholds)
    return MultiLabelEvaluation(
        scores=multi_label_scores(probabilities, thresholds, targets, model.labels),
        log_loss=mean_binary_loss(model.calibrated(logits), targets),
        calibration_error=binary_calibration_error(probabilities, targets),
        reading=vocabulary_coverage(encoded),
        probabilities=probabilities,
        predicted=model.chosen_labels(probabilities),
    )
