"""Temperature scaling: probabilities that mean something (Guo, Pleiss, Sun, Weinberger; ICML 2017)."""

from collections.abc import Callable
from functools import partial

import numpy as np

from headwise.scores.targets import right_of, smoothed

USUAL = 20.0
"""Temperatures above this are those of outputs that say next to nothing."""
MOST = 1e12
BINS = 15
"""Of probabilities, of equal width, in which they are compared with how often they hold."""
FOLDS = 5


def fit_temperature(logits: np.ndarray, targets: np.ndarray, weights: np.ndarray | None = None) -> float:
    """The temperature T that makes `softmax(logits / T)` most likely on held-out texts, and on two more of
    which any label is as likely (Platt 1999): so few texts that are all right make no model certain.

    Never changes which label is first. Sought between 1/20 and 20, and up to 1e12 where outputs as large as
    that say nothing of the labels (training has diverged); 1.0 where there are no texts.

    Args:
        logits: `[texts, classes]`.
        targets: Label numbers, `[texts]`, or probabilities of labels, `[texts, classes]`.
        weights: How much each text counts, `[texts]`.
    """
    if len(targets) == 0:
        return 1.0
    from scipy.optimize import minimize_scalar  # slow to load, and predictions do without
    from scipy.special import log_softmax

    logits = logits.astype(np.float64)
    wanted = smoothed(targets, logits.shape[1])

    def loss(log_temperature: float) -> float:
        scaled = log_softmax(logits / np.exp(log_temperature), axis=1)
        return float(-np.average((wanted * scaled).sum(axis=1), weights=weights))

    def lowest(low: float, high: float) -> float:
        found = minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 1e-4})
        return float(found.x)  # type: ignore[attr-defined]

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
    """The calibration error of probabilities whose temperature was fitted on other texts: on those of the
    other folds. That on the very texts that a temperature was fitted on is too good.

    Args:
        logits: `[texts, classes]`.
        targets: What `fit` and `error` take.
        fit: Finds a temperature.
        chances: Makes probabilities of logits over a temperature; softmax by default.
        error: Of probabilities; `expected_calibration_error` by default.
        weights: How much each text counts, `[texts]`, if they differ; what `fit` and `error` then take.
    """
    if chances is None:
        from scipy.special import softmax

        chances = partial(softmax, axis=1)
    if len(logits) == 0:
        return 0.0
    found, fold = np.empty(logits.shape), np.arange(len(logits)) % FOLDS
    for own in np.unique(fold):
        held = fold == own
        others = () if weights is None else (weights[~held],)
        none = held.all() or (weights is not None and not weights[~held].any())
        temperature = 1.0 if none else fit(logits[~held], targets[~held], *others)
        found[held] = chances(logits[held].astype(np.float64) / temperature)
    every = () if weights is None else (weights,)
    return (error or expected_calibration_error)(found, targets, *every)


def expected_calibration_error(
    probabilities: np.ndarray, targets: np.ndarray, weights: np.ndarray | None = None
) -> float:
    """Mean gap between confidence and accuracy over equal-width bins of confidence (Naeini et al. 2015).

    Args:
        probabilities: `[texts, classes]`.
        targets: Label numbers, `[texts]`, or probabilities of labels, `[texts, classes]`.
        weights: How much each text counts, `[texts]`.

    Returns:
        Between 0 and 1; 0 where there are no texts.
    """
    right = right_of(probabilities.argmax(axis=1), targets)
    return calibration_gap(probabilities.max(axis=1), right, weights)


def calibration_gap(chances: np.ndarray, true: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Mean gap between probabilities and how often what they are of is true, over equal-width bins; 0 where
    there are none.

    Args:
        chances: `[n]`.
        true: `[n]`, whether each holds, or how likely that is.
        weights: How much each counts, `[n]`.
    """
    which = np.minimum((chances * BINS).astype(int), BINS - 1)
    counts = np.ones(len(chances)) if weights is None else np.asarray(weights, dtype=np.float64)
    stated, found = (np.bincount(which, own.astype(np.float64) * counts, BINS) for own in (chances, true))
    return float(np.abs(stated - found).sum() / (counts.sum() or 1))
