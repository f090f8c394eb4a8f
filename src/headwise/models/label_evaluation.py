"""The evaluations of models of labels, of label sets and of numbers, as plain numbers to save or show.

`evaluate_labels`, `evaluate_multi_label` and `evaluate_numbers` predict and compare. All report the
vocabulary coverage of the data: unknown words, empty texts, truncated texts. `label_shift_messages` warns
of labels that are more or less frequent in the data than the model predicts.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from headwise.core.config import JsonObject
from headwise.data.items.examples import Example
from headwise.metrics.calibration import expected_calibration_error
from headwise.metrics.classification_scores import (
    ClassificationScores,
    hard_labels,
    mean_loss,
    score_labels,
)
from headwise.metrics.multi_label_scores import (
    MultiLabelScores,
    binary_calibration_error,
    mean_binary_loss,
    multi_label_scores,
)
from headwise.metrics.regression_scores import RegressionScores, score_numbers
from headwise.metrics.thresholds import predict_labels
from headwise.models.report_parts import ReportMessage

if TYPE_CHECKING:
    from headwise.nn.networks.text_models import MultiLabelModel


@dataclass(frozen=True)
class VocabularyCoverage:
    """Vocabulary coverage of a data set.

    Attributes:
        unknown_words: Fraction of all words that are not in the vocabulary.
        empty_texts: Number of items with a text without words.
        cut_texts: Number of truncated items (only with `--windows.long truncate`).
    """

    unknown_words: float
    empty_texts: int
    cut_texts: int


def vocabulary_coverage(encoded: Sequence[Any]) -> VocabularyCoverage | None:
    """The vocabulary coverage of encoded items; None where items have no words."""
    unknown = words = empty = cut = 0
    for item in encoded:
        if not hasattr(item, "unknown"):
            return None
        unknown, words = unknown + item.unknown, words + len(item)
        empty, cut = empty + item.empty, cut + (item.cut > 0)
    return VocabularyCoverage(unknown_words=unknown / max(words, 1), empty_texts=empty, cut_texts=cut)


MOST_MATRIX = 200
"""The most labels for which all cells of a confusion matrix are saved."""


@dataclass(frozen=True)
class SingleLabelEvaluation:
    """The evaluation of a single-label classifier.

    Attributes:
        scores: Accuracy and its interval, F1, the scores of each label, and the confusion matrix.
        log_loss: Mean cross-entropy of the calibrated probabilities, in nats.
        calibration_error: Expected calibration error of the calibrated probabilities, between 0 and 1.
        reading: Unknown words and truncated texts; None where items have no words.
        probabilities: Calibrated probabilities, `[items, labels]`; not part of the JSON.
        thresholds: The threshold of each label, `[labels]`; None to predict the most probable label.
    """

    scores: ClassificationScores
    log_loss: float
    calibration_error: float
    reading: VocabularyCoverage | None
    probabilities: np.ndarray = field(repr=False, compare=False)
    thresholds: Sequence[float] | None = None

    @property
    def predicted(self) -> np.ndarray:
        """The predicted label indices, `[items]`."""
        return predict_labels(self.probabilities, self.thresholds)

    def to_json(self) -> JsonObject:
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
        predicted = self.predicted
        wrong = np.flatnonzero(predicted != targets)
        sureness = self.probabilities[wrong, predicted[wrong]]
        return wrong[np.argsort(-sureness, kind="stable")][:count].tolist()


def evaluate_labels(model: Any, items: Sequence[object], targets: np.ndarray) -> SingleLabelEvaluation:
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
    return SingleLabelEvaluation(
        scores=score_labels(
            predict_labels(probabilities, model.thresholds), hard_labels(targets), model.labels
        ),
        log_loss=mean_loss(model.calibrated(logits), targets),
        calibration_error=expected_calibration_error(probabilities, targets),
        reading=vocabulary_coverage(encoded),
        probabilities=probabilities,
        thresholds=model.thresholds,
    )


_CHANCE, _FAR = 4.0, 0.15
"""The smallest reported difference: in standard deviations, and as a fraction of the larger count. Tested
by benchmarks/defaults/calibrating.py: 1 of 80 samples of 100 texts without label shift is reported,
and 58 of 79 full-sized samples with label shift."""


def label_shift_messages(
    labels: Sequence[str], chances: NDArray[np.floating], has: NDArray, many: str
) -> list[ReportMessage]:
    """A message about the label whose frequency differs most from the model's probabilities; empty where
    the difference is within chance or too small to matter.

    Args:
        labels: The names of the labels.
        chances: The probabilities that the model predicts, `[items, labels]`.
        has: Whether each item has each label, or the probability of that, `[items, labels]`.
        many: The plural noun of the items, such as `texts`.
    """
    observed, expected = has.sum(axis=0), chances.sum(axis=0)
    # One is added to the variance: a variance of 0 would make any difference significant.
    away = (observed - expected) / np.sqrt((chances * (1 - chances)).sum(axis=0) + 1)
    most = int(np.abs(away).argmax())
    larger = max(observed[most], expected[most])
    if abs(away[most]) < _CHANCE or abs(observed[most] - expected[most]) < _FAR * larger:
        return []
    message = f"{labels[most]!r} is the label of {observed[most]:,.0f} of {len(has):,} {many} here, and of "
    message += (
        f"{expected[most]:,.0f} by the model's probabilities: if that is how common labels are in what "
    )
    return [ReportMessage(f"{message}is to come, headwise calibrate fits the model to it")]


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


@dataclass(frozen=True)
class NumberEvaluation:
    """The evaluation of a regression model.

    Attributes:
        scores: Errors and correlations.
        reading: Unknown words and truncated texts; None where items have no words.
        predicted: The predicted numbers, `[texts]`; not part of the JSON.
    """

    scores: RegressionScores
    reading: VocabularyCoverage | None
    predicted: np.ndarray = field(repr=False, compare=False)

    def to_json(self) -> JsonObject:
        """A flat JSON object."""
        return {**asdict(self.scores), **(asdict(self.reading) if self.reading else {})}

    def worst(self, targets: np.ndarray, count: int) -> list[int]:
        """The indices of the largest absolute errors against the targets `[texts]`, the largest first."""
        return np.argsort(-np.abs(self.predicted - targets), kind="stable")[:count].tolist()


def evaluate_numbers(model: Any, items: Sequence[object], targets: np.ndarray) -> NumberEvaluation:
    """Predict the numbers of texts or pairs and compare them with the targets, `[items]`.

    Raises:
        ValueError: There are no items.
    """
    encoded = model.encoded(items)
    predicted = model.scores(encoded)
    return NumberEvaluation(
        scores=score_numbers(predicted, targets), reading=vocabulary_coverage(encoded), predicted=predicted
    )
