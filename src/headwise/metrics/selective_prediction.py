"""Selective prediction: the confidence threshold below which predictions are left to people
(abstention)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from headwise.core.errors import ConfigError

_KEPT = 100  # points of the curve that are saved in a model folder
SELECTIVE_PREDICTION = "sureness"
"""The key of the curve among the dev scores in the metrics of a model."""
MIN_ITEMS = 5
"""The fewest items for which a precision is computed."""
PSEUDO_ITEMS = 10
"""The pseudo-items that pull an observed precision towards the mean probability. Without them, of coin
flips three in four of the first few are right for one model in four."""


@dataclass(frozen=True)
class RiskCoverageCurve:
    """The risk-coverage curve of a model on held-out items, ordered by falling confidence.

    Attributes:
        probability: The confidence threshold at each point of the curve, `[places]`, decreasing.
        answered: The number of items with at least this confidence, `[places]`.
        right: The number of these that are predicted right, `[places]`.
    """

    probability: NDArray[np.float64]
    answered: NDArray[np.int64]
    right: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        sure: NDArray[np.floating],
        right: NDArray,
        most: int = _KEPT,
        weights: NDArray[np.floating] | None = None,
    ) -> Self:
        """The curve of items.

        Args:
            sure: The probability of each predicted label, `[items]`.
            right: Whether each prediction is right, or the probability of that (soft labels), `[items]`.
            most: The largest number of points.
            weights: The weight of each item, with mean 1, `[items]`.
        """
        order = np.argsort(-sure, kind="stable")
        ranked = sure[order].astype(np.float64)
        counts = np.ones(len(sure)) if weights is None else weights[order].astype(np.float64)
        answered, hits = counts.cumsum(), (right[order] * counts).cumsum()
        last = np.flatnonzero(np.append(ranked[1:] < ranked[:-1], True)) if len(ranked) else order
        places = (
            np.unique(last[np.linspace(0, len(last) - 1, most).round().astype(int)]) if len(last) else last
        )
        return cls(
            ranked[places],
            *(np.rint(counts_so_far[places]).astype(np.int64) for counts_so_far in (answered, hits)),
        )

    @property
    def precision(self) -> NDArray[np.float64]:
        """The observed precision at each point, `[places]`."""
        return self.right / np.maximum(self.answered, 1)

    @property
    def expected(self) -> NDArray[np.float64]:
        """The expected precision on new items at each point, `[places]`: the observed one, or a lower one
        where the probabilities are lower."""
        steps = np.diff(self.answered, prepend=0)
        stated_precision = (self.probability * steps).cumsum() / np.maximum(self.answered, 1)
        return np.minimum(
            self.precision, (self.right + PSEUDO_ITEMS * stated_precision) / (self.answered + PSEUDO_ITEMS)
        )

    def least(self, precision: float) -> int | None:
        """The index of the last point with at least this expected precision; None where there is none."""
        enough = np.flatnonzero((self.expected >= precision) & (self.answered >= MIN_ITEMS))
        return int(enough[-1]) if len(enough) else None

    def to_json(self) -> dict[str, list[float]]:
        """The curve as a JSON object, for a model folder."""
        return {
            "probability": [float(f"{probability:.6g}") for probability in self.probability],
            "answered": self.answered.tolist(),
            "right": self.right.tolist(),
        }

    @classmethod
    def from_json(cls, data: Any) -> Self | None:
        """The inverse of `to_json`; None for invalid data."""
        if not isinstance(data, Mapping):
            return None
        try:
            columns = [
                np.array(data[name], dtype=np.float64) for name in ("probability", "answered", "right")
            ]
        except (KeyError, TypeError, ValueError):
            return None
        if len({column.shape for column in columns}) > 1 or columns[0].ndim != 1 or not len(columns[0]):
            return None
        return cls(columns[0], columns[1].astype(np.int64), columns[2].astype(np.int64))


def confidence_threshold(request: str, saved: Any) -> float:
    """The confidence threshold of selective prediction.

    Args:
        request: A probability, or `precision=` followed by the required precision above the threshold.
        saved: The JSON of the model's `RiskCoverageCurve` on held-out items.

    Raises:
        ConfigError: `request` is neither, or the model does not reach the precision.
    """
    kind, _, number = request.rpartition("=")
    try:
        value = float(number)
    except ValueError:
        value = -1.0
    if kind not in ("", "precision") or not 0 < value <= 1:
        raise ConfigError(f"--unsure {request}; expected a probability such as 0.9, or precision=0.95")
    if not kind:
        return value
    steps = RiskCoverageCurve.from_json(saved)
    if steps is None:
        raise ConfigError(
            f"--unsure {request}: the model folder does not say how often the model was right on held-out "
            "texts (it is of an earlier version, or was pruned on texts that it knew); give a probability, "
            "or train anew"
        )
    place = steps.least(value)
    if place is None:
        best = steps.expected[steps.answered >= MIN_ITEMS].max(initial=0.0)
        shown = math.floor(1000 * best) / 10  # rounded up, it could equal the requested precision
        raise ConfigError(
            f"--unsure {request}: of what the model is surest of, {shown:.1f} % is expected to be right "
            "by held-out texts; ask for less, or give a probability"
        )
    return float(steps.probability[place])
