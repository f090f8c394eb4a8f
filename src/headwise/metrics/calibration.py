"""Calibrated probabilities: temperature scaling, and recalibration under label shift.

A temperature makes the confidence of a model match its accuracy (Guo, Pleiss, Sun, Weinberger; ICML 2017),
but only for the label frequencies of its training data. Other label frequencies need a bias for each label
too (bias-corrected temperature scaling; Alexandari, Kundaje, Shrikumar, ICML 2020). In a `Recalibration`,
Gaussian priors pull both towards the unchanged model where there are few texts.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from headwise.core.activations import expit, log_softmax, softmax
from headwise.core.minimization import minimize_within
from headwise.metrics.classification_scores import correctness, label_probabilities, smooth_targets

MAX_USUAL_TEMPERATURE = 20.0
"""The largest usual temperature; logits with a larger one carry almost no information."""
MAX_TEMPERATURE = 1e12
BINS = 15
"""The number of equal-width bins of the calibration error."""
FOLDS = 5


def fit_temperature(logits: np.ndarray, targets: np.ndarray, weights: np.ndarray | None = None) -> float:
    """The maximum-likelihood temperature T of `softmax(logits / T)` on held-out texts.

    Two texts with uniform labels are added (Platt 1999), so that a few correct texts do not make the model
    certain. The temperature never changes the ranking of the labels. The search range is 1/20 to 20, and up
    to 1e12 for huge logits without information (training diverged). Without texts the temperature is 1.0.

    Args:
        logits: `[texts, classes]`.
        targets: Label indices, `[texts]`, or soft labels, `[texts, classes]`.
        weights: The weight of each text, `[texts]`.
    """
    if len(targets) == 0:
        return 1.0
    logits = logits.astype(np.float64)
    smoothed_targets = smooth_targets(targets, logits.shape[1])

    def loss(log_temperature: float) -> float:
        scaled = log_softmax(logits / np.exp(log_temperature), axis=1)
        return float(-np.average((smoothed_targets * scaled).sum(axis=1), weights=weights))

    bound = np.log(MAX_USUAL_TEMPERATURE)
    best = minimize_within(loss, -bound, bound)
    if best > np.log(0.99 * MAX_USUAL_TEMPERATURE):
        best = minimize_within(loss, bound, np.log(MAX_TEMPERATURE))
    return float(np.exp(best)) if loss(best) < loss(0.0) else 1.0


def expected_calibration_error(
    probabilities: np.ndarray, targets: np.ndarray, weights: np.ndarray | None = None
) -> float:
    """Mean gap between confidence and accuracy over equal-width bins of confidence (Naeini et al. 2015).

    Args:
        probabilities: `[texts, classes]`.
        targets: Label indices, `[texts]`, or soft labels, `[texts, classes]`.
        weights: The weight of each text, `[texts]`.

    Returns:
        The error, between 0 and 1; 0 where there are no texts.
    """
    right = correctness(probabilities.argmax(axis=1), targets)
    return binned_calibration_error(probabilities.max(axis=1), right, weights)


def binned_calibration_error(
    chances: np.ndarray, true: np.ndarray, weights: np.ndarray | None = None
) -> float:
    """Mean gap between probabilities and observed frequencies over equal-width bins; 0 without events.

    Args:
        chances: The predicted probability of each event, `[n]`.
        true: Whether each event occurred, or the probability of that, `[n]`.
        weights: The weight of each event, `[n]`.
    """
    bins = np.minimum((chances * BINS).astype(int), BINS - 1)
    counts = np.ones(len(chances)) if weights is None else np.asarray(weights, dtype=np.float64)
    stated, observed = (
        np.bincount(bins, values.astype(np.float64) * counts, BINS) for values in (chances, true)
    )
    return float(np.abs(stated - observed).sum() / (counts.sum() or 1))


softmax_rows = partial(softmax, axis=1)


def cross_fitted_error(
    logits: np.ndarray,
    targets: np.ndarray,
    fit: Callable[..., float] = fit_temperature,
    chances: Callable[[np.ndarray], np.ndarray] = softmax_rows,
    error: Callable[..., float] = expected_calibration_error,
    weights: np.ndarray | None = None,
) -> float:
    """The cross-fitted calibration error: the temperature of each fold is fitted on the other folds. The
    error on the texts that a temperature was fitted on is optimistic.

    Args:
        logits: `[texts, classes]`.
        targets: The targets that `fit` and `error` take.
        fit: Fits a temperature.
        chances: Turns logits divided by the temperature into probabilities.
        error: The calibration error of probabilities.
        weights: The weight of each text, `[texts]`, also passed to `fit` and `error`.
    """
    if len(logits) == 0:
        return 0.0
    probabilities, fold = np.empty(logits.shape), np.arange(len(logits)) % FOLDS
    for test_fold in np.unique(fold):
        held = fold == test_fold
        fit_weights = None if weights is None else weights[~held]
        none = held.all() or (fit_weights is not None and not fit_weights.any())
        temperature = 1.0 if none else fit(logits[~held], targets[~held], fit_weights)
        probabilities[held] = chances(logits[held].astype(np.float64) / temperature)
    return error(probabilities, targets, weights)


Loss = Callable[[NDArray[np.float64], NDArray], tuple[NDArray[np.float64], NDArray[np.float64]]]

SPREADS = 0.17, 0.55
"""The standard deviations of the Gaussian priors on the log temperature and on a bias. Chosen on ten data
sets with and without label shift."""


@dataclass(frozen=True)
class Recalibration:
    """The map from logits to recalibrated logits.

    Attributes:
        temperature: The divisor of the logits.
        biases: The bias of each label, added after the division, `[labels]`.
    """

    temperature: float
    biases: NDArray[np.float64]

    def __call__(self, logits: NDArray[np.floating]) -> NDArray[np.float64]:
        """The recalibrated logits, `[texts, labels]`."""
        return logits / self.temperature + self.biases


def one_label_loss(
    logits: NDArray[np.float64], targets: NDArray
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The negative log-likelihood of each text's label, `[texts]`, and its gradient, `[texts, labels]`.

    Args:
        logits: `[texts, labels]`.
        targets: Label indices, `[texts]`, or soft labels, `[texts, labels]`.
    """
    probabilities = label_probabilities(targets, logits.shape[1])
    logs = log_softmax(logits, axis=1)
    return -(probabilities * logs).sum(axis=1), np.exp(logs) - probabilities


def label_set_loss(
    logits: NDArray[np.float64], targets: NDArray
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The binary cross-entropy of each text, `[texts]`, and its gradient; binary targets, `[texts,
    labels]`."""
    losses = np.logaddexp(0.0, np.where(targets, -logits, logits))
    return losses.sum(axis=1), expit(logits) - targets


def fit_recalibration(
    logits: NDArray[np.floating],
    targets: NDArray,
    loss: Loss = one_label_loss,
    weights: NDArray[np.floating] | None = None,
) -> Recalibration:
    """Fit the temperature and the biases by maximum a posteriori.

    Args:
        logits: The calibrated logits of texts that the model was not trained on, `[texts, labels]`.
        targets: The targets that `loss` takes.
        loss: `one_label_loss` or `label_set_loss`.
        weights: The weight of each text, with mean 1, `[texts]`.
    """
    from scipy.optimize import minimize  # slow to load

    logits = logits.astype(np.float64)
    counts = np.ones(len(logits)) if weights is None else np.asarray(weights, dtype=np.float64)
    precision = 1 / np.square(np.repeat(SPREADS, [1, logits.shape[1]]))

    def negative_log_posterior(values: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        factor = np.exp(-values[0])
        losses, slopes = loss(factor * logits + values[1:], targets)
        slopes *= counts[:, None]
        gradient = np.append(-factor * (slopes * logits).sum(), slopes.sum(axis=0))
        prior = precision * values
        return float(losses @ counts + 0.5 * prior @ values), gradient + prior

    parameters = minimize(
        negative_log_posterior, np.zeros(1 + logits.shape[1]), jac=True, method="L-BFGS-B"
    ).x
    return Recalibration(float(np.exp(parameters[0])), parameters[1:])


def cross_fitted_logits(
    logits: NDArray[np.floating],
    targets: NDArray,
    loss: Loss = one_label_loss,
    weights: NDArray[np.floating] | None = None,
) -> NDArray[np.float64]:
    """Cross-fitted recalibrated logits, `[texts, labels]`: each fold is recalibrated by a fit on the other
    folds, as the fit is optimistic on its training texts. See `fit_recalibration`."""
    calibrated, fold = np.empty(logits.shape), np.arange(len(logits)) % FOLDS
    for test_fold in np.unique(fold):
        held = fold == test_fold
        fit_weights = None if weights is None else weights[~held]
        calibrated[held] = fit_recalibration(logits[~held], targets[~held], loss, fit_weights)(logits[held])
    return calibrated
