"""Numbers: standardized comparison features of pairs, or surface features of texts."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.linear.solver import Floats

_OF_NUMBERS = 0.3  # standard deviation of the pair features, relative to vectors and blocks of length 1


@dataclass(frozen=True)
class Numbers:
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
        judged: int | None = None,
        weights: NDArray | None = None,
    ) -> "Numbers":
        """Standardize the features of training texts; constant features become 0.

        Args:
            numbers: The raw features, `[texts, numbers]`.
            widths: Standard deviation that each feature is scaled to.
            least: Lower bound of each measured standard deviation.
            judged: Number of real texts; those behind them are label names, whose features are set to 0.
            weights: Weights of the texts in mean and deviation; None where all are equal.
        """
        raw = np.asarray(numbers, dtype=np.float64)
        sample, counts = raw[:judged], None if weights is None else weights[:judged]
        center, spread = np.zeros(raw.shape[1]), np.zeros(raw.shape[1])
        if sample.size:
            center = np.average(sample, axis=0, weights=counts)
            spread = np.sqrt(np.average((sample - center) ** 2, axis=0, weights=counts))
        deviation = np.where(spread > 1e-6, np.maximum(spread, least), np.inf) / widths
        values = (raw - center) / deviation
        values[len(sample) :] = 0
        return cls(values.astype(np.float32), center.astype(np.float32), deviation.astype(np.float32))

    @property
    def none(self) -> "Numbers":
        """The same texts without numeric features."""
        return Numbers(self.values[:, :0], self.center[:0], self.deviation[:0])

    def take(self, texts: NDArray[np.int64]) -> "Numbers":
        """The features of a subset of the texts."""
        return replace(self, values=self.values[texts])
