"""Vectors: dense vectors of texts as input of a linear model."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from headwise.linear.leading import leading
from headwise.linear.solver import Floats
from headwise.linear.text_model import DenseScale


@dataclass(frozen=True)
class Vectors:
    """Vectors of texts, centred and scaled to length 1.

    Attributes:
        values: The vectors times `leading`, `[texts, size]`; the size may be 0.
        mean: Mean of the raw vectors, `[size]`.
        leading: Covariance root (see `headwise.linear.leading`), `[size, size]`.
    """

    values: Floats
    mean: Floats
    leading: Floats

    @classmethod
    def of(
        cls, vectors: NDArray | None, texts: int, weights: Floats | None = None, mean: Floats | None = None
    ) -> "Vectors":
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

    def led(self, counting: NDArray[np.bool_]) -> "Vectors":
        """Apply the covariance root of the texts with a positive weight."""
        if not self.values.size:
            return self
        turn = leading(self.values[counting])
        return replace(self, values=np.asarray(self.values @ turn, dtype=np.float32), leading=turn)

    def take(self, texts: NDArray[np.int64]) -> "Vectors":
        """The vectors of a subset of the texts."""
        return replace(self, values=self.values[texts])


def _mean(vectors: NDArray, weights: Floats | None) -> Floats:
    if weights is None:
        return vectors.mean(axis=0, dtype=np.float64).astype(np.float32)
    return np.average(vectors, axis=0, weights=weights.astype(np.float64)).astype(np.float32)
