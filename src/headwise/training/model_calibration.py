"""Calibration of a trained classifier on held-out items: temperature, biases and decision thresholds."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.core.activations import expit
from headwise.core.config import JsonObject
from headwise.linear.ensemble_weights import fit_binary_temperature
from headwise.metrics.calibration import (
    Loss,
    cross_fitted_error,
    cross_fitted_logits,
    expected_calibration_error,
    fit_recalibration,
    fit_temperature,
    label_set_loss,
    one_label_loss,
    softmax_rows,
)
from headwise.metrics.classification_scores import correctness, hard_labels
from headwise.metrics.metric_keys import OPERATING_POINTS, SELECTIVE_PREDICTION
from headwise.metrics.multi_label_scores import (
    binary_calibration_error,
    mean_binary_loss,
    ranking_rates,
    set_rates,
)
from headwise.metrics.operating_points import (
    RiskCoverageCurve,
    choose_threshold,
    label_thresholds,
    log_ratio,
    parse_operating_points,
)
from headwise.metrics.thresholds import Weights, fit_label_thresholds, fit_thresholds
from headwise.nn.networks.bag_model import BagModel
from headwise.nn.networks.text_models import MultiLabelModel, PairModel, TextClassifierModel
from headwise.training.text_objectives import label_dev_scores
from headwise.training.train_result import PostTrainingFit

AnyClassifier = TextClassifierModel | PairModel | BagModel
Logits = NDArray[np.floating]


def _decide_single_labels(
    model: AnyClassifier, logits: Logits, targets: NDArray, weights: Weights
) -> JsonObject:
    """Set the decision thresholds of a classifier, if its configuration requests some, by calibrated logits
    of held-out items. Returns their scores, the accuracy at each confidence (selective prediction) and the
    operating points."""
    chances, true_labels = softmax_rows(logits), hard_labels(targets)
    right = correctness(logits.argmax(axis=1), targets)
    confidence = RiskCoverageCurve.of(chances.max(axis=1), right, weights=weights).to_json()
    dev: JsonObject = label_dev_scores(logits, targets, model.labels, weights)
    dev[SELECTIVE_PREDICTION] = confidence
    if isinstance(model, BagModel):
        return dev
    model.thresholds = None
    if model.config.classifier.thresholds == "f1":
        model.thresholds = fit_label_thresholds(chances, true_labels, weights=weights)
    for point in parse_operating_points(model.config.classifier.thresholds):  # one at most
        label = model.labels.index(point.label)
        ratios, is_label = log_ratio(chances, label), true_labels == label
        decision = choose_threshold(point, ratios, is_label, chances[:, label], weights)
        model.thresholds = label_thresholds(decision.threshold, label, len(model.labels))
        dev[OPERATING_POINTS] = [decision.to_json()]
    return dev


def _decide_label_sets(
    model: MultiLabelModel, logits: Logits, targets: NDArray[np.bool_], weights: Weights
) -> JsonObject:
    """Set the thresholds of a multi-label classifier by calibrated logits of held-out texts; returns their
    scores and the operating points."""
    thresholds = fit_thresholds(logits, targets, model.config.thresholds.min_texts, weights)
    points = list[JsonObject]()
    probabilities = expit(logits)
    for point in parse_operating_points(model.config.classifier.thresholds):
        label = model.labels.index(point.label)
        label_scores = logits[:, label], targets[:, label], probabilities[:, label]
        decision = choose_threshold(point, *label_scores, weights)
        thresholds[label] = decision.threshold
        points.append(decision.to_json())
    model.thresholds = expit(thresholds).tolist()
    return {
        **set_rates(probabilities, np.array(model.thresholds), targets, weights),
        **ranking_rates(probabilities, targets, weights),
        "loss": mean_binary_loss(logits, targets, weights),
        **({OPERATING_POINTS: points} if points else {}),
    }


@dataclass(frozen=True)
class Calibration:
    """The calibration of one type of classifiers.

    Attributes:
        fit_temperature: Fits a temperature to logits, targets and weights.
        chances: Turns calibrated logits into probabilities.
        error: The calibration error of probabilities.
        loss: The loss of recalibrated logits.
        decide: Sets the thresholds of a model by calibrated logits; returns the scores to report.
    """

    fit_temperature: Callable[..., float]
    chances: Callable[[NDArray], NDArray]
    error: Callable[..., float]
    loss: Loss
    decide: Callable[..., JsonObject]

    def fit(
        self,
        model: Any,
        outputs: Logits,
        logits: Logits,
        targets: NDArray,
        weights: Weights,
        temperature: float | None,
    ) -> PostTrainingFit:
        """Fit temperature and thresholds of a trained model.

        Args:
            model: A classifier.
            outputs: Held-out logits of its encoder, `[items, labels]`.
            logits: Held-out logits of the ensemble.
            targets: Targets of these items.
            weights: Weights of these items.
            temperature: The temperature, if it was fitted with the ensemble weights.
        """
        before = self.error(self.chances(outputs.astype(np.float64)), targets, weights)
        if temperature is None:
            temperature = self.fit_temperature(logits, targets, weights)
        model.temperature = temperature
        after = cross_fitted_error(
            logits, targets, self.fit_temperature, self.chances, self.error, weights=weights
        )
        return PostTrainingFit(
            self.decide(model, model.calibrated(logits), targets, weights), (before, after)
        )

    def refit(self, model: Any, logits: Logits, targets: NDArray, weights: Weights) -> PostTrainingFit:
        """Recalibrate: fit temperature, biases and thresholds of a finished model on its logits of other
        items than those held out in training. The first calibration error is that of the model as it was.

        Args:
            model: A classifier.
            logits: Uncalibrated logits, `[items, labels]`.
            targets: Targets of these items.
            weights: Weights of these items.
        """
        now = model.calibrated(logits)
        fitted = fit_recalibration(now, targets, self.loss, weights)
        biases = fitted.biases + np.array(model.biases or 0.0) / fitted.temperature
        model.temperature, model.biases = model.temperature * fitted.temperature, biases.tolist()
        recalibrated = cross_fitted_logits(now, targets, self.loss, weights)
        before, after = (
            self.error(self.chances(scaled), targets, weights) for scaled in (now, recalibrated)
        )
        return PostTrainingFit(
            self.decide(model, model.calibrated(logits), targets, weights), (before, after)
        )


SINGLE_LABEL = Calibration(
    fit_temperature,
    softmax_rows,
    expected_calibration_error,
    one_label_loss,
    _decide_single_labels,
)
LABEL_SETS = Calibration(
    fit_binary_temperature, expit, binary_calibration_error, label_set_loss, _decide_label_sets
)
