"""Recalibration under label shift: a temperature and a bias for each label.

The probabilities of a model are calibrated only for the label frequencies of its training data. A
temperature cannot correct other label frequencies, but a bias for each label can (bias-corrected
temperature scaling; Alexandari, Kundaje, Shrikumar, ICML 2020). Gaussian priors pull both towards the
unchanged model where there are few texts.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_softmax

from headwise.scores.calibrate import FOLDS

Loss = Callable[[NDArray[np.float64], NDArray[Any]], tuple[NDArray[np.float64], NDArray[np.float64]]]

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


def one_label_loss(logits: NDArray[np.float64], targets: NDArray[Any]) -> tuple[Any, Any]:
    """The negative log-likelihood of each text's label, `[texts]`, and its gradient, `[texts, labels]`.

    Args:
        logits: `[texts, labels]`.
        targets: Label indices, `[texts]`, or soft labels, `[texts, labels]`.
    """
    label_probabilities = np.eye(logits.shape[1])[targets] if targets.ndim == 1 else targets
    logs = log_softmax(logits, axis=1)
    return -(label_probabilities * logs).sum(axis=1), np.exp(logs) - label_probabilities


def label_set_loss(logits: NDArray[np.float64], targets: NDArray[Any]) -> tuple[Any, Any]:
    """The binary cross-entropy of each text, `[texts]`, and its gradient; binary targets, `[texts,
    labels]`."""
    losses = np.logaddexp(0.0, np.where(targets, -logits, logits))
    return losses.sum(axis=1), expit(logits) - targets


def fit_recalibration(
    logits: NDArray[np.floating],
    targets: NDArray[Any],
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

    def judged(values: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        factor = np.exp(-values[0])
        losses, slopes = loss(factor * logits + values[1:], targets)
        slopes *= counts[:, None]
        gradient = np.append(-factor * (slopes * logits).sum(), slopes.sum(axis=0))
        prior = precision * values
        return float(losses @ counts + 0.5 * prior @ values), gradient + prior

    parameters = minimize(judged, np.zeros(1 + logits.shape[1]), jac=True, method="L-BFGS-B").x
    return Recalibration(float(np.exp(parameters[0])), parameters[1:])


def cross_fitted(
    logits: NDArray[np.floating],
    targets: NDArray[Any],
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
