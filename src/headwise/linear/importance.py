"""Importance: the weight of each training text in the loss, in held-out scores and in feature
statistics."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headwise.linear.solver import Floats
from headwise.linear.targets import Targets


@dataclass(frozen=True)
class Importance:
    """The weights of training texts.

    Attributes:
        costs: The factor of each text's loss, `[texts]`; 1 on average over the texts with a positive
            weight.
        counts: Weights of the texts when they are held out, without class weights; None where all are
            equal.
        amounts: Weights of the texts in feature statistics (document frequency, mean, deviation), where
            label names count 1; None where all are equal.
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
        """The importance of training texts.

        Args:
            sample_weight: Weight of each text, `[texts]`.
            class_weight: Weight of the texts of each label, `[classes]`.
            judged: Number of real texts; those behind them are label names.
        """
        costs = np.ones(len(targets)) if sample_weight is None else np.asarray(sample_weight, np.float64)
        counting, counts, amounts = costs > 0, None, None
        if sample_weight is not None and counting.any():
            counts = (costs / costs[counting].mean()).astype(np.float32)
            amounts = _amounts(counts, judged)
        factors = None if class_weight is None else targets.importance(class_weight)
        costs = costs if factors is None else costs * factors
        if costs.sum() > 0:
            costs = costs / costs[counting].mean()
        return cls(costs.astype(np.float32), counts, amounts)

    def take(self, texts: NDArray[np.int64]) -> "Importance":
        """The importance of a subset of the texts."""
        selected = (None if values is None else values[texts] for values in (self.counts, self.amounts))
        return Importance(self.costs[texts], *selected)


def _amounts(counts: Floats, judged: int | None) -> Floats | None:
    """Weights in feature statistics; None where they are equal. Label names, which follow the real texts,
    get weight 1: they have a larger weight in the loss, but not in document frequencies."""
    amounts = counts[:judged]
    if not amounts.any() or (amounts == amounts[0]).all():
        return None
    amounts = amounts / amounts[amounts > 0].mean()
    return np.append(amounts, np.ones(len(counts) - len(amounts))).astype(np.float32)
