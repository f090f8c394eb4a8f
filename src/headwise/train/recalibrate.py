"""A finished model of labels, fitted to other items than those that were held out in its training."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from headwise.scores.binary import binary_calibration_error
from headwise.scores.calibrate import expected_calibration_error
from headwise.scores.recalibrate import (
    Loss,
    cross_fitted,
    fit_recalibration,
    label_set_loss,
    one_label_loss,
)
from headwise.scores.thresholds import Weights
from headwise.train.classification import held_out_scores, set_thresholds
from headwise.train.fitted import Finished
from headwise.train.label_sets import set_set_thresholds


def calibrate_labels(
    model: Any, logits: NDArray[np.float32], targets: NDArray[Any], weights: Weights
) -> Finished:
    """Fit temperature, biases and thresholds of a finished model to its logits of items; the first of the
    calibration errors is that of the model as it was.

    Args:
        model: Gives one label.
        logits: Before calibration, `[items, labels]`.
        targets: Label numbers, `[items]`, or probabilities of labels, `[items, labels]`.
        weights: How much each item counts, `[items]`.
    """
    before = model.probabilities(logits)
    others = softmax(_recalibrate(model, logits, targets, one_label_loss, weights), axis=1)
    errors = [expected_calibration_error(own, targets, weights) for own in (before, others)]
    model.thresholds, logits = None, model.calibrated(logits)
    dev = held_out_scores(logits, targets, model.labels, weights)
    return Finished(dev | set_thresholds(model, logits, targets, weights), (errors[0], errors[1]))


def calibrate_label_sets(
    model: Any, logits: NDArray[np.float32], targets: NDArray[np.bool_], weights: Weights
) -> Finished:
    """The same of a model that gives sets of labels; `targets`: whether texts have them,
    `[texts, labels]`."""
    before = model.probabilities(logits)
    others = expit(_recalibrate(model, logits, targets, label_set_loss, weights))
    errors = [binary_calibration_error(own, targets, weights) for own in (before, others)]
    return Finished(set_set_thresholds(model, logits, targets, weights), (errors[0], errors[1]))


def _recalibrate(
    model: Any, logits: NDArray[np.float32], targets: NDArray[Any], loss: Loss, weights: Weights
) -> NDArray[np.float64]:
    """Give a model other temperature and biases; returns calibrated logits of the items by such as were
    fitted to others of them."""
    now = model.calibrated(logits)
    found = fit_recalibration(now, targets, loss, weights)
    biases = found.biases + np.array(model.biases or 0.0) / found.temperature
    model.temperature, model.biases = model.temperature * found.temperature, biases.tolist()
    return cross_fitted(now, targets, loss, weights)
