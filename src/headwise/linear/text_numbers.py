"""Numbers: what tells how pairs compare, or the form of texts, on scales that a linear model can read."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.linear.solver import Floats

_OF_NUMBERS = 0.3  # the standard deviation of those of pairs beside vectors and features of length 1


@dataclass(frozen=True)
class Numbers:
    """Numbers of texts, `[texts, numbers]`, less their `center` and divided by `deviation`, `[numbers]`."""

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
        """Those of training texts; numbers that are all the same say nothing.

        Args:
            numbers: Of each text.
            widths: What each is to differ by.
            least: What each is taken to differ by at least.
            judged: The texts behind so many first ones are not like others: their numbers say nothing.
            weights: How much each text counts in mean and deviation, if they differ.
        """
        own = np.asarray(numbers, dtype=np.float64)
        some, counts = own[:judged], None if weights is None else weights[:judged]
        center, spread = np.zeros(own.shape[1]), np.zeros(own.shape[1])
        if some.size:
            center = np.average(some, axis=0, weights=counts)
            spread = np.sqrt(np.average((some - center) ** 2, axis=0, weights=counts))
        deviation = np.where(spread > 1e-6, np.maximum(spread, least), np.inf) / widths
        values = (own - center) / deviation
        values[len(some) :] = 0
        return cls(values.astype(np.float32), center.astype(np.float32), deviation.astype(np.float32))

    @property
    def none(self) -> "Numbers":
        """Of the same texts no number."""
        return Numbers(self.values[:, :0], self.center[:0], self.deviation[:0])

    def take(self, texts: NDArray[np.int64]) -> "Numbers":
        """Those of some of the texts."""
        return replace(self, values=self.values[texts])
