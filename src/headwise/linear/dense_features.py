"""Dense features of linear models: vectors of texts, and standardised numbers.

`CentredVectors` are vectors of texts. `StandardizedFeatures` are comparison features of pairs, or surface
features of texts.

With few texts a linear model cannot learn a weight for every direction of its input vectors; along a
direction of little variance it learns noise. So vectors are multiplied by their `covariance_root`: an L2
penalty on the weights then becomes `w @ inv(C) @ w`, where C is the covariance of the vectors. This is a
prior by which weights are larger along directions of large variance.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.core.threads import one_blas_thread
from headwise.linear.linear_model import DenseScale
from headwise.linear.linear_weights import Floats

_ROWS = 8_192
_NOTHING = 1e-12  # of the largest variance: what rounding errors leave
MOST_DIRECTIONS = 256
"""Largest size of the vectors that `covariance_root` does not shorten."""


def covariance_root(vectors: NDArray[np.floating]) -> NDArray[np.float32]:
    """A square root R of the covariance of vectors, R @ R.T, scaled to keep their mean squared distance
    from the mean; the identity where the vectors do not differ.

    Args:
        vectors: `[texts, size]`.

    Returns:
        A symmetric matrix, `[size, size]`; of vectors longer than `MOST_DIRECTIONS`, or of fewer texts than
        these have numbers, the directions in which they differ, `[size, directions]`, at most
        `MOST_DIRECTIONS`. Weights learned on `vectors @ matrix` are the weights `matrix @ weights` on
        `vectors`; an L2 penalty does not depend on the choice of the root.
    """
    size = vectors.shape[1]
    with one_blas_thread():  # the same sums on any number of cores
        variances, axes = _principal_axes(vectors)
        total, squares = variances.sum(), (variances**2).sum()
        if not squares > 0:
            return np.eye(size, min(size, MOST_DIRECTIONS), dtype=np.float32)
        root = axes * np.sqrt(variances * (total / squares))
        if len(variances) == size <= MOST_DIRECTIONS:
            root = root @ axes.T
    return root[:, -MOST_DIRECTIONS:].astype(np.float32)


def _principal_axes(vectors: NDArray[np.floating]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The axes of the covariance of vectors, `[size, axes]`, and the sums of squares along them in
    ascending order, `[axes]`; of fewer texts than the vectors have numbers, those above 0."""
    texts, size = vectors.shape
    mean = vectors.mean(axis=0, dtype=np.float64) if texts else np.zeros(size)
    if texts < size:  # the products of the texts have the same spectrum, and are fewer
        away = vectors - mean
        variances, sides = np.linalg.eigh(away @ away.T)
        differ = variances > _NOTHING * variances.max(initial=0.0)
        variances = variances[differ]
        return variances, (away.T @ sides[:, differ]) / np.sqrt(variances)
    covariance = np.zeros((size, size))
    for first in range(0, texts, _ROWS):
        away = vectors[first : first + _ROWS] - mean
        covariance += away.T @ away
    variances, axes = np.linalg.eigh(covariance)
    return np.maximum(variances, 0), axes


@dataclass(frozen=True)
class CentredVectors:
    """Vectors of texts, centred and scaled to length 1.

    Attributes:
        values: The vectors times `leading`, `[texts, size]`; the size may be 0.
        mean: Mean of the raw vectors, `[size]`.
        leading: Covariance root (see `headwise.linear.dense_features`), `[size of a raw vector, size]`.
    """

    values: Floats
    mean: Floats
    leading: Floats

    @classmethod
    def of(
        cls, vectors: NDArray | None, texts: int, weights: Floats | None = None, mean: Floats | None = None
    ) -> "CentredVectors":
        """Centre and scale the vectors of training texts; `leading` is the identity.

        Args:
            vectors: Raw vectors, `[texts, size]`; None without.
            texts: Number of texts.
            weights: Weights of the texts in the mean; None where all are equal.
            mean: Use this mean instead of theirs.
        """
        inputs = np.zeros((texts, 0), dtype=np.float32) if vectors is None else np.asarray(vectors)
        size = inputs.shape[1]
        if not texts or not size:
            mean = np.zeros(size, dtype=np.float32)
        elif mean is None:
            mean = _mean(inputs, weights)
        return cls(DenseScale(mean, 1.0)(inputs), mean, np.eye(size, dtype=np.float32))

    @property
    def size(self) -> int:
        """Size of a vector."""
        return self.values.shape[1]

    def with_covariance_root(self, counting: NDArray[np.bool_]) -> "CentredVectors":
        """Apply the covariance root of the texts with a positive weight."""
        if not self.values.size:
            return self
        turn = covariance_root(self.values[counting])
        return replace(self, values=np.asarray(self.values @ turn, dtype=np.float32), leading=turn)

    def take(self, texts: NDArray[np.int64]) -> "CentredVectors":
        """The vectors of a subset of the texts."""
        return replace(self, values=self.values[texts])


def _mean(vectors: NDArray, weights: Floats | None) -> Floats:
    if weights is None:
        return vectors.mean(axis=0, dtype=np.float64).astype(np.float32)
    return np.average(vectors, axis=0, weights=weights.astype(np.float64)).astype(np.float32)


_OF_NUMBERS = 0.3  # standard deviation of the pair features, relative to vectors and blocks of length 1


@dataclass(frozen=True)
class StandardizedFeatures:
    """Numeric features of texts, `[texts, numbers]`, minus their `center` and divided by `deviation`,
    `[numbers]` each."""

    values: Floats
    center: Floats
    deviation: Floats

    @classmethod
    def of(
        cls,
        numbers: NDArray,
        widths: Any = _OF_NUMBERS,
        least: Any = 0.0,
        text_count: int | None = None,
        weights: NDArray | None = None,
    ) -> "StandardizedFeatures":
        """Standardise the features of training texts; constant features become 0.

        Args:
            numbers: The raw features, `[texts, numbers]`.
            widths: Standard deviation that each feature is scaled to.
            least: Lower bound of each measured standard deviation.
            text_count: Number of real texts; those behind them are label names, whose features are set to
                0.
            weights: Weights of the texts in mean and deviation; None where all are equal.
        """
        raw = np.asarray(numbers, dtype=np.float64)
        sample, counts = raw[:text_count], None if weights is None else weights[:text_count]
        center, spread = np.zeros(raw.shape[1]), np.zeros(raw.shape[1])
        if sample.size:
            center = np.average(sample, axis=0, weights=counts)
            spread = np.sqrt(np.average((sample - center) ** 2, axis=0, weights=counts))
        deviation = np.where(spread > 1e-6, np.maximum(spread, least), np.inf) / widths
        values = (raw - center) / deviation
        values[len(sample) :] = 0
        return cls(values.astype(np.float32), center.astype(np.float32), deviation.astype(np.float32))

    @property
    def none(self) -> "StandardizedFeatures":
        """The same texts without numeric features."""
        return StandardizedFeatures(self.values[:, :0], self.center[:0], self.deviation[:0])

    def take(self, texts: NDArray[np.int64]) -> "StandardizedFeatures":
        """The features of a subset of the texts."""
        return replace(self, values=self.values[texts])
