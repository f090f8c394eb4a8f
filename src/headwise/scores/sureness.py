"""How sure a model has to be: what it says with some probability stands, the rest is left to people."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from headwise.errors import ConfigError

_KEPT = 100  # places of the order that are kept in a model folder
SURENESS = "sureness"
"""Where the metrics of a model have it, among its scores on dev."""
LEAST = 5
"""Items of which a share is taken for one."""
OWN = 10
"""Items that count as what the probabilities say of the share, beside those that were counted: else of
coin flips three in four of the first few are right for one model in four."""


@dataclass(frozen=True)
class Sureness:
    """Held-out items, the surest first, at some places of that order.

    Attributes:
        probability: Of what is said of the item at each place, `[places]`, falling.
        answered: How many items there are up to it, `[places]`.
        right: How many of these are right, `[places]`.
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
        """Of items: the probability of what is said of each, and whether it is right (or how likely that
        is, by the item's own probabilities), and how much each counts, 1 in the mean: all `[items]`."""
        order = np.argsort(-sure, kind="stable")
        ranked = sure[order].astype(np.float64)
        counts = np.ones(len(sure)) if weights is None else weights[order].astype(np.float64)
        answered, hits = counts.cumsum(), (right[order] * counts).cumsum()
        last = np.flatnonzero(np.append(ranked[1:] < ranked[:-1], True)) if len(ranked) else order
        kept = (
            np.unique(last[np.linspace(0, len(last) - 1, most).round().astype(int)]) if len(last) else last
        )
        return cls(ranked[kept], *(np.rint(own[kept]).astype(np.int64) for own in (answered, hits)))

    @property
    def precision(self) -> NDArray[np.float64]:
        """The share that is right up to each place, `[places]`."""
        return self.right / np.maximum(self.answered, 1)

    @property
    def expected(self) -> NDArray[np.float64]:
        """The share of others that is right up to each place, `[places]`: that of these, or less where the
        probabilities say less."""
        steps = np.diff(self.answered, prepend=0)
        said = (self.probability * steps).cumsum() / np.maximum(self.answered, 1)
        return np.minimum(self.precision, (self.right + OWN * said) / (self.answered + OWN))

    def least(self, precision: float) -> int | None:
        """The last place up to which at least this share is expected to be right; None where there is
        none."""
        enough = np.flatnonzero((self.expected >= precision) & (self.answered >= LEAST))
        return int(enough[-1]) if len(enough) else None

    def to_json(self) -> dict[str, list[float]]:
        """Lists of numbers, for a model folder."""
        return {
            "probability": [float(f"{own:.6g}") for own in self.probability],
            "answered": self.answered.tolist(),
            "right": self.right.tolist(),
        }

    @classmethod
    def from_json(cls, data: Any) -> Self | None:
        """Undo `to_json`; None for what it has not written."""
        if not isinstance(data, Mapping):
            return None
        try:
            found = [
                np.array(data[name], dtype=np.float64) for name in ("probability", "answered", "right")
            ]
        except (KeyError, TypeError, ValueError):
            return None
        if len({own.shape for own in found}) > 1 or found[0].ndim != 1 or not len(found[0]):
            return None
        return cls(found[0], found[1].astype(np.int64), found[2].astype(np.int64))


def least_sure(asked: str, kept: Any) -> float:
    """The least probability with which what a model says is sure enough.

    Args:
        asked: A probability, or `precision=` and the share of what is sure that is to be right.
        kept: What the model's folder has of its `Sureness` on held-out items.

    Raises:
        ConfigError: It is neither, or the model was not so right.
    """
    kind, _, number = asked.rpartition("=")
    try:
        value = float(number)
    except ValueError:
        value = -1.0
    if kind not in ("", "precision") or not 0 < value <= 1:
        raise ConfigError(f"--unsure {asked}; expected a probability such as 0.9, or precision=0.95")
    if not kind:
        return value
    steps = Sureness.from_json(kept)
    if steps is None:
        raise ConfigError(
            f"--unsure {asked}: the model folder does not say how often the model was right on held-out "
            "texts (it is of an earlier version, or was pruned on texts that it knew); give a probability, "
            "or train anew"
        )
    place = steps.least(value)
    if place is None:
        best = steps.expected[steps.answered >= LEAST].max(initial=0.0)
        shown = math.floor(1000 * best) / 10  # rounded up it could be what was asked for
        raise ConfigError(
            f"--unsure {asked}: of what the model is surest of, {shown:.1f} % is expected to be right "
            "by held-out texts; ask for less, or give a probability"
        )
    return float(steps.probability[place])
