"""Vectors: what tells of texts beside their words, as a linear model is trained on it."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from headwise.linear.leading import leading
from headwise.linear.solver import Floats
from headwise.linear.text_model import DenseScale


@dataclass(frozen=True)
class Vectors:
    """Vectors of texts, of length 1 about their mean.

    Attributes:
        values: The vectors, times `leading`, `[texts, size]`; the size may be 0.
        mean: Of the vectors as given, `[size]`.
        leading: What makes their large directions count for more (see `headwise.linear.leading`).
    """

    values: Floats
    mean: Floats
    leading: Floats

    @classmethod
    def of(
        cls, vectors: NDArray | None, texts: int, weights: Floats | None = None, mean: Floats | None = None
    ) -> "Vectors":
        """Those of training texts; all directions count the same as yet.

        Args:
            vectors: `[texts, size]`; None where there are none.
            texts: How many texts there are.
            weights: How much each text counts in their mean, if they differ.
            mean: Take this in place of theirs.
        """
        given = np.zeros((texts, 0), dtype=np.float32) if vectors is None else np.asarray(vectors)
        size = given.shape[1]
        if not texts or not size:
            mean = np.zeros(size, dtype=np.float32)
        elif mean is None:
            mean = _mean(given, weights)
        return cls(DenseScale(mean, 1.0)(given), mean, np.eye(size, dtype=np.float32))

    @property
    def size(self) -> int:
        """Numbers of a vector as it is read."""
        return self.values.shape[1]

    def led(self, counting: NDArray[np.bool_]) -> "Vectors":
        """With what leads among the texts that count."""
        if not self.values.size:
            return self
        turn = leading(self.values[counting])
        return replace(self, values=np.asarray(self.values @ turn, dtype=np.float32), leading=turn)

    def take(self, texts: NDArray[np.int64]) -> "Vectors":
        """Those of some of the texts."""
        return replace(self, values=self.values[texts])


def _mean(vectors: NDArray, weights: Floats | None) -> Floats:
    if weights is None:
        return vectors.mean(axis=0, dtype=np.float64).astype(np.float32)
    return np.average(vectors, axis=0, weights=weights.astype(np.float64)).astype(np.float32)
