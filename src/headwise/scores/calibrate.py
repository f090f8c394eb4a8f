"""Temperature scaling: calibrated probabilities (Guo, Pleiss, Sun, Weinberger; ICML 2017)."""

from collections.abc import Callable
from functools import partial

import numpy as np

from headwise.scores.targets import right_of, smoothed

USUAL = 20.0
"""The largest usual temperature; logits with a larger one carry almost no information."""
MOST = 1e12
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
    from scipy.optimize import minimize_scalar  # slow to load, and predictions do without
    from scipy.special import log_softmax

    logits = logits.astype(np.float64)
    smoothed_targets = smoothed(targets, logits.shape[1])

    def loss(log_temperature: float) -> float:
        scaled = log_softmax(logits / np.exp(log_temperature), axis=1)
        return float(-np.average((smoothed_targets * scaled).sum(axis=1), weights=weights))

    def lowest(low: float, high: float) -> float:
        solution = minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 1e-4})
        return float(solution.x)  # type: ignore[attr-defined]

    bound = np.log(USUAL)
    best = lowest(-bound, bound)
    if best > np.log(0.99 * USUAL):
        best = lowest(bound, np.log(MOST))
    return float(np.exp(best)) if loss(best) < loss(0.0) else 1.0


def cross_fitted_error(
    logits: np.ndarray,
    targets: np.ndarray,
    fit: Callable[..., float] = fit_temperature,
    chances: Callable[[np.ndarray], np.ndarray] | None = None,
    error: Callable[..., float] | None = None,
    weights: np.ndarray | None = None,
) -> float:
    """The cross-fitted calibration error: the temperature of each fold is fitted on the other folds. The
    error on the texts that a temperature was fitted on is optimistic.

    Args:
        logits: `[texts, classes]`.
        targets: The targets that `fit` and `error` take.
        fit: Fits a temperature.
        chances: Turns logits divided by the temperature into probabilities; softmax by default.
        error: The calibration error of probabilities; `expected_calibration_error` by default.
        weights: The weight of each text, `[texts]`, also passed to `fit` and `error`; None for equal
            weights.
    """
    if chances is None:
        from scipy.special import softmax

        chances = partial(softmax, axis=1)
    if len(logits) == 0:
        return 0.0
    probabilities, fold = np.empty(logits.shape), np.arange(len(logits)) % FOLDS
    for test_fold in np.unique(fold):
        held = fold == test_fold
        fit_weights = () if weights is None else (weights[~held],)
        none = held.all() or (weights is not None and not weights[~held].any())
        temperature = 1.0 if none else fit(logits[~held], targets[~held], *fit_weights)
        probabilities[held] = chances(logits[held].astype(np.float64) / temperature)
    every = () if weights is None else (weights,)
    return (error or expected_calibration_error)(probabilities, targets, *every)


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
    right = right_of(probabilities.argmax(axis=1), targets)
    return calibration_gap(probabilities.max(axis=1), right, weights)


def calibration_gap(chances: np.ndarray, true: np.ndarray, weights: np.ndarray | None = None) -> float:
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
