"""Recalibration of a finished classifier on other items than those held out in training."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from headwise.metrics.binary_labels import binary_calibration_error
from headwise.metrics.calibration import (
    Loss,
    cross_fitted_logits,
    expected_calibration_error,
    fit_recalibration,
    label_set_loss,
    one_label_loss,
)
from headwise.metrics.thresholds import Weights
from headwise.training.objectives.label_objective import held_out_scores, set_thresholds
from headwise.training.objectives.multi_label_objective import fit_label_set_thresholds
from headwise.training.train_result import PostTrainingFit


def calibrate_labels(
    model: Any, logits: NDArray[np.float32], targets: NDArray[Any], weights: Weights
) -> PostTrainingFit:
    """Fit temperature, biases and thresholds of a finished model on its logits of items. The first
    calibration error is that of the model as it was.

    Args:
        model: A classifier with one label per item.
        logits: Uncalibrated logits, `[items, labels]`.
        targets: Label indices, `[items]`, or label probabilities, `[items, labels]`.
        weights: Weights of the items, `[items]`.
    """
    before = model.probabilities(logits)
    recalibrated = softmax(_recalibrate(model, logits, targets, one_label_loss, weights), axis=1)
    errors = [
        expected_calibration_error(probabilities, targets, weights)
        for probabilities in (before, recalibrated)
    ]
    model.thresholds, logits = None, model.calibrated(logits)
    dev = held_out_scores(logits, targets, model.labels, weights)
    return PostTrainingFit(dev | set_thresholds(model, logits, targets, weights), (errors[0], errors[1]))


def calibrate_label_sets(
    model: Any, logits: NDArray[np.float32], targets: NDArray[np.bool_], weights: Weights
) -> PostTrainingFit:
    """The same for a multi-label model with multi-hot `targets`, `[texts, labels]`."""
    before = model.probabilities(logits)
    recalibrated = expit(_recalibrate(model, logits, targets, label_set_loss, weights))
    errors = [
        binary_calibration_error(probabilities, targets, weights)
        for probabilities in (before, recalibrated)
    ]
    return PostTrainingFit(
        fit_label_set_thresholds(model, logits, targets, weights), (errors[0], errors[1])
    )


def _recalibrate(
    model: Any, logits: NDArray[np.float32], targets: NDArray[Any], loss: Loss, weights: Weights
) -> NDArray[np.float64]:
    """Set the temperature and biases of a model; returns cross-fitted calibrated logits of the items."""
    now = model.calibrated(logits)
    fitted = fit_recalibration(now, targets, loss, weights)
    biases = fitted.biases + np.array(model.biases or 0.0) / fitted.temperature
    model.temperature, model.biases = model.temperature * fitted.temperature, biases.tolist()
    return cross_fitted_logits(now, targets, loss, weights)
