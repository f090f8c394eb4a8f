"""Probabilities of labels that each are a yes or no: their loss, temperature, mixture and calibration."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from headwise.scores.calibrate import MOST, USUAL, calibration_gap
from headwise.scores.targets import spread
from headwise.scores.thresholds import Scores, Targets, Weights


def mean_binary_loss(logits: Scores, targets: Targets, weights: Weights = None) -> float:
    """Mean binary cross-entropy of a label, in nats, of texts that count as `weights` say."""
    losses = np.logaddexp(0.0, np.where(targets, -1.0, 1.0) * logits.astype(np.float64))
    return float(losses.mean() if weights is None else np.average(losses.mean(axis=1), weights=weights))


def fit_binary_temperature(logits: Scores, targets: Targets, weights: Weights = None) -> float:
    """The temperature that makes held-out labels most likely, with `sigmoid(logits / temperature)`, of
    texts that count as `weights` say; see `headwise.scores.calibrate.fit_temperature`."""
    factors, _ = _most_likely([logits], targets, weights)
    if factors[0] > 1 / USUAL:
        return 1.0 / factors[0]
    largest = float(np.abs(logits).max())
    factors, _ = _most_likely([logits / largest], targets, weights, least=0.0)
    return min(largest / max(factors[0], 1 / MOST), MOST)


def fit_binary_mixture(
    encoder: Scores, expert: Scores, targets: Targets, weights: Weights = None
) -> tuple[float, float, NDArray[np.float32]]:
    """What makes held-out labels most likely: the weights of encoder and expert, and what is added to the
    expert's scores (of linear SVMs, whose 0 is far from even odds where a label is rare).

    Args:
        encoder: Logits.
        expert: Scores of a linear expert.
        targets: The true labels.
        weights: How much each text counts.

    Returns:
        `(own, weight, shift)` for `sigmoid(own * encoder + weight * (expert + shift))`, the shift
        `[labels]`; no weight is negative.
    """
    (own, weight), shift = _most_likely([encoder, expert], targets, weights, least=0.0)
    moved = shift / weight if weight > 0 else np.zeros_like(shift)
    return own, weight, moved.astype(np.float32)


_SHIFT = 2.0
"""How far, in logits, the shift of a label may be expected to go: its prior's standard deviation."""


def _most_likely(
    parts: list[Scores], targets: Targets, weights: Weights = None, *, least: float = 1 / USUAL
) -> tuple[list[float], NDArray[np.float64]]:
    """Factors of scores, and a shift for each label where there are two, that make labels most likely, as
    far as so few texts can say (see `headwise.scores.calibrate.fit_temperature`)."""
    labels = targets.shape[1]
    if targets.size == 0:
        return [1.0, 0.0], np.zeros(labels)
    from scipy.optimize import minimize  # slow to load, and predictions do without

    own = [part.astype(np.float64) for part in parts]
    free = len(parts) > 1
    unsure = spread(len(targets)) / 2
    wanted = np.where(targets, 1 - unsure, unsure)
    counts = np.ones((len(targets), 1)) if weights is None else np.asarray(weights, np.float64)[:, None]
    counts = counts / (counts.mean() or 1)

    def loss(values: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        factors, shift = values[: len(own)], values[len(own) :]
        logits = sum(factor * part for factor, part in zip(factors, own, strict=True))
        logits = logits + shift if free else logits
        slopes = counts * (expit(logits) - wanted) / targets.size
        prior = shift / _SHIFT**2 / targets.size
        ahead = np.concatenate(
            [[(slopes * part).sum() for part in own], slopes.sum(0)[: len(shift)] + prior]
        )
        losses = counts * (np.logaddexp(0.0, logits) - wanted * logits)
        return float(losses.mean() + (shift * prior).sum() / 2), ahead

    start = np.concatenate([np.ones(len(own)), np.zeros(labels if free else 0)])
    bounds = [(least, 20.0), (0.0, 40.0)][: len(own)] + [(-20.0, 20.0)] * (len(start) - len(own))
    found = minimize(loss, x0=start, jac=True, bounds=bounds, method="L-BFGS-B")
    return found.x[: len(own)].tolist(), found.x[len(own) :]


def binary_calibration_error(probabilities: Scores, targets: Targets, weights: Weights = None) -> float:
    """Mean gap between the probabilities of labels and how often they hold, over equal-width bins; of texts
    that count as `weights` say."""
    each = None if weights is None else np.repeat(weights, targets.shape[1])
    return calibration_gap(probabilities.ravel(), targets.ravel(), each)
