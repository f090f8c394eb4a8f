"""Calibration for other texts than a model was trained on, among which other labels are common.

Probabilities of a model are right where labels are as common as in its training. Among texts where they are
not, the temperature cannot mend that: a bias for each label can (bias-corrected temperature scaling;
Alexandari, Kundaje, Shrikumar, ICML 2020). Few texts say little of that, so both are held back towards the
model as it is, by priors.
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
"""How far the logarithm of the temperature, and a bias, may be expected to go: their priors' standard
deviations. Chosen on ten sets of texts, whose labels were as common as in training or not."""


@dataclass(frozen=True)
class Recalibration:
    """What makes logits of logits.

    Attributes:
        temperature: They are divided by that.
        biases: And that is added, `[labels]`.
    """

    temperature: float
    biases: NDArray[np.float64]

    def __call__(self, logits: NDArray[np.floating]) -> NDArray[np.float64]:
        """The logits, `[texts, labels]`."""
        return logits / self.temperature + self.biases


def one_label_loss(logits: NDArray[np.float64], targets: NDArray[Any]) -> tuple[Any, Any]:
    """The negative log-likelihood of each text's label, `[texts]`, and its gradient, `[texts, labels]`.

    Args:
        logits: `[texts, labels]`.
        targets: Label numbers, `[texts]`, or probabilities of labels, `[texts, labels]`.
    """
    wanted = np.eye(logits.shape[1])[targets] if targets.ndim == 1 else targets
    logs = log_softmax(logits, axis=1)
    return -(wanted * logs).sum(axis=1), np.exp(logs) - wanted


def label_set_loss(logits: NDArray[np.float64], targets: NDArray[Any]) -> tuple[Any, Any]:
    """The same of labels that each are a yes or no; `targets`: whether texts have it, `[texts, labels]`."""
    losses = np.logaddexp(0.0, np.where(targets, -logits, logits))
    return losses.sum(axis=1), expit(logits) - targets


def fit_recalibration(
    logits: NDArray[np.floating],
    targets: NDArray[Any],
    loss: Loss = one_label_loss,
    weights: NDArray[np.floating] | None = None,
) -> Recalibration:
    """What makes labels most likely, as far as so few texts can say.

    Args:
        logits: Of texts that the model was not trained on, calibrated for others, `[texts, labels]`.
        targets: What the loss takes.
        loss: Of the kind of labels.
        weights: How much each text counts, 1 in the mean, `[texts]`.
    """
    from scipy.optimize import minimize  # slow to load

    logits = logits.astype(np.float64)
    counts = np.ones(len(logits)) if weights is None else np.asarray(weights, dtype=np.float64)
    precision = 1 / np.square(np.repeat(SPREADS, [1, logits.shape[1]]))

    def judged(values: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        factor = np.exp(-values[0])
        losses, slopes = loss(factor * logits + values[1:], targets)
        slopes *= counts[:, None]
        own = np.append(-factor * (slopes * logits).sum(), slopes.sum(axis=0))
        prior = precision * values
        return float(losses @ counts + 0.5 * prior @ values), own + prior

    found = minimize(judged, np.zeros(1 + logits.shape[1]), jac=True, method="L-BFGS-B").x
    return Recalibration(float(np.exp(found[0])), found[1:])


def cross_fitted(
    logits: NDArray[np.floating],
    targets: NDArray[Any],
    loss: Loss = one_label_loss,
    weights: NDArray[np.floating] | None = None,
) -> NDArray[np.float64]:
    """Logits of texts that were calibrated by the others, a fold at a time: on the very texts that it was
    fitted to, a calibration looks too good. See `fit_recalibration`."""
    found, fold = np.empty(logits.shape), np.arange(len(logits)) % FOLDS
    for own in np.unique(fold):
        held = fold == own
        others = None if weights is None else weights[~held]
        found[held] = fit_recalibration(logits[~held], targets[~held], loss, others)(logits[held])
    return found
