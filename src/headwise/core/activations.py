"""Softmax, sigmoid and their logarithms of arrays, without SciPy."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray
"""Floating-point numbers, of the precision of the argument."""


def _floats(values: ArrayLike) -> Floats:
    array = np.asarray(values)
    return array if np.issubdtype(array.dtype, np.floating) else array.astype(np.float64)


def log_softmax(values: ArrayLike, axis: int | None = None) -> Floats:
    """Logarithms of `softmax`, of the same shape; all values form one group if `axis` is None."""
    scores = _floats(values)
    tops = scores.max(axis=axis, keepdims=True, initial=-np.inf)
    away = scores - np.where(np.isfinite(tops), tops, 0)
    with np.errstate(divide="ignore"):
        return away - np.log(np.exp(away).sum(axis=axis, keepdims=True))


def softmax(values: ArrayLike, axis: int | None = None) -> Floats:
    """Exponentials divided by their sum along `axis`, of the same shape."""
    scores = _floats(values)
    weights = np.exp(scores - scores.max(axis=axis, keepdims=True, initial=-np.inf))
    return weights / weights.sum(axis=axis, keepdims=True)


def expit(values: ArrayLike) -> Floats:
    """The logistic sigmoid `1 / (1 + exp(-x))` of each value."""
    scores = _floats(values)
    small = np.exp(-np.abs(scores))  # never overflows
    return (np.where(scores >= 0, 1, small) / (1 + small)).astype(scores.dtype)[()]


def logit(values: ArrayLike) -> Floats:
    """The inverse of `expit`: `log(p / (1 - p))`; infinite for 0 and 1, NaN outside of them."""
    shares = _floats(values)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(shares) - np.log1p(-shares)
