"""Multi-label probabilities (independent binary labels): loss, temperature, ensemble weights,
calibration."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from headwise.metrics.calibration import MAX_TEMPERATURE, MAX_USUAL_TEMPERATURE, binned_calibration_error
from headwise.metrics.classification_scores import smoothing_mass
from headwise.metrics.thresholds import LabelScores, Targets, Weights


def mean_binary_loss(logits: LabelScores, targets: Targets, weights: Weights = None) -> float:
    """Mean binary cross-entropy per label, in nats, with text weights."""
    losses = np.logaddexp(0.0, np.where(targets, -1.0, 1.0) * logits.astype(np.float64))
    return float(losses.mean() if weights is None else np.average(losses.mean(axis=1), weights=weights))


def fit_binary_temperature(logits: LabelScores, targets: Targets, weights: Weights = None) -> float:
    """The maximum-likelihood temperature of `sigmoid(logits / temperature)` on held-out texts, with text
    weights; see `headwise.metrics.calibration.fit_temperature`."""
    factors, _ = _fit_factors([logits], targets, weights)
    if factors[0] > 1 / MAX_USUAL_TEMPERATURE:
        return 1.0 / factors[0]
    largest = float(np.abs(logits).max())
    factors, _ = _fit_factors([logits / largest], targets, weights, least=0.0)
    return min(largest / max(factors[0], 1 / MAX_TEMPERATURE), MAX_TEMPERATURE)


def fit_binary_ensemble(
    encoder: LabelScores, expert: LabelScores, targets: Targets, weights: Weights = None
) -> tuple[float, float, NDArray[np.float32]]:
    """The maximum-likelihood ensemble weights of encoder and linear model on held-out texts, and a bias for
    the scores of the linear model (a linear SVM, whose score 0 is far from even odds for a rare label).

    Args:
        encoder: Logits of the encoder, `[texts, labels]`.
        expert: Scores of the linear model, `[texts, labels]`.
        targets: The true labels.
        weights: The weight of each text.

    Returns:
        `(encoder_weight, expert_weight, shift)` for
        `sigmoid(encoder_weight * encoder + expert_weight * (expert + shift))`; the shift is `[labels]`, and
        no weight is negative.
    """
    (encoder_weight, expert_weight), shift = _fit_factors([encoder, expert], targets, weights, least=0.0)
    moved = shift / expert_weight if expert_weight > 0 else np.zeros_like(shift)
    return encoder_weight, expert_weight, moved.astype(np.float32)


_SHIFT = 2.0
"""The standard deviation of the Gaussian prior on the shift of a label, in logits."""


def _fit_factors(
    parts: list[LabelScores],
    targets: Targets,
    weights: Weights = None,
    *,
    least: float = 1 / MAX_USUAL_TEMPERATURE,
) -> tuple[list[float], NDArray[np.float64]]:
    """The maximum-likelihood factors of the scores, and if there are two score arrays a shift for each
    label, with smoothed targets (see `headwise.metrics.calibration.fit_temperature`)."""
    labels = targets.shape[1]
    if targets.size == 0:
        return [1.0, 0.0], np.zeros(labels)
    from scipy.optimize import minimize  # slow to load, and predictions do without

    parts64 = [part.astype(np.float64) for part in parts]
    free = len(parts) > 1
    unsure = smoothing_mass(len(targets)) / 2
    smoothed_targets = np.where(targets, 1 - unsure, unsure)
    counts = np.ones((len(targets), 1)) if weights is None else np.asarray(weights, np.float64)[:, None]
    counts = counts / (counts.mean() or 1)

    def loss(values: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        factors, shift = values[: len(parts64)], values[len(parts64) :]
        logits = sum(factor * part for factor, part in zip(factors, parts64, strict=True))
        logits = logits + shift if free else logits
        slopes = counts * (expit(logits) - smoothed_targets) / targets.size
        prior = shift / _SHIFT**2 / targets.size
        ahead = np.concatenate(
            [[(slopes * part).sum() for part in parts64], slopes.sum(0)[: len(shift)] + prior]
        )
        losses = counts * (np.logaddexp(0.0, logits) - smoothed_targets * logits)
        return float(losses.mean() + (shift * prior).sum() / 2), ahead

    start = np.concatenate([np.ones(len(parts64)), np.zeros(labels if free else 0)])
    bounds = [(least, 20.0), (0.0, 40.0)][: len(parts64)] + [(-20.0, 20.0)] * (len(start) - len(parts64))
    solution = minimize(loss, x0=start, jac=True, bounds=bounds, method="L-BFGS-B")
    return solution.x[: len(parts64)].tolist(), solution.x[len(parts64) :]


def binary_calibration_error(
    probabilities: LabelScores, targets: Targets, weights: Weights = None
) -> float:
    """Expected calibration error of the label probabilities over equal-width bins, with text weights."""
    label_weights = None if weights is None else np.repeat(weights, targets.shape[1])
    return binned_calibration_error(probabilities.ravel(), targets.ravel(), label_weights)
