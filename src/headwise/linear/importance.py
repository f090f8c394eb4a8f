"""Importance: how much each training text counts, in costs, in what is held out and in what is counted."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headwise.linear.solver import Floats
from headwise.linear.targets import Targets


@dataclass(frozen=True)
class Importance:
    """How much each text counts.

    Attributes:
        costs: What a mistake on it costs, `[texts]`; 1 in the mean of those that count.
        counts: The same where texts are held out, without the weights of labels; None where all count the
            same.
        amounts: The same in what is counted of their words and numbers; names of labels count 1.
    """

    costs: Floats
    counts: Floats | None = None
    amounts: Floats | None = None

    @classmethod
    def of(
        cls,
        targets: Targets,
        sample_weight: NDArray | None = None,
        class_weight: NDArray | None = None,
        judged: int | None = None,
    ) -> "Importance":
        """That of training texts.

        Args:
            sample_weight: How much each text counts, `[texts]`.
            class_weight: How much the texts of each label count, `[classes]`.
            judged: The texts behind so many first ones are names of labels.
        """
        costs = np.ones(len(targets)) if sample_weight is None else np.asarray(sample_weight, np.float64)
        counting, counts, amounts = costs > 0, None, None
        if sample_weight is not None and counting.any():
            counts = (costs / costs[counting].mean()).astype(np.float32)
            amounts = _amounts(counts, judged)
        own = None if class_weight is None else targets.importance(class_weight)
        costs = costs if own is None else costs * own
        if costs.sum() > 0:
            costs = costs / costs[counting].mean()
        return cls(costs.astype(np.float32), counts, amounts)

    def take(self, texts: NDArray[np.int64]) -> "Importance":
        """That of some of the texts."""
        own = (None if some is None else some[texts] for some in (self.counts, self.amounts))
        return Importance(self.costs[texts], *own)


def _amounts(counts: Floats, judged: int | None) -> Floats | None:
    """How much each text counts in what is counted of all; None where they count the same. Names of labels,
    behind those that are judged, weigh more than they say of how rare words are."""
    own = counts[:judged]
    if not own.any() or (own == own[0]).all():
        return None
    own = own / own[own > 0].mean()
    return np.append(own, np.ones(len(counts) - len(own))).astype(np.float32)
