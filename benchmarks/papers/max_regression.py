"""Max regression: find the largest of a set of numbers (Set Transformer, Lee et al. 2019, section 5.1)."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from headwise.nn.ragged import Ragged


def max_sets(
    seed: int | Sequence[int], sets: int = 128, *, largest: int = 10, highest: float = 100.0
) -> tuple[Ragged, Tensor]:
    """Sets of real numbers and the largest number of each: n ~ U{1..largest}, x ~ U(0, highest).

    Args:
        seed: Not negative; the same seed gives the same sets.
        sets: How many.
        largest: Most elements of a set.
        highest: Upper end of the numbers.

    Returns:
        Elements of `[1]`, and the targets `[sets]`; both float32.
    """
    random = np.random.default_rng(seed)
    sizes = random.integers(1, largest + 1, sets)
    numbers = random.uniform(0, highest, sizes.sum()).astype(np.float32)
    starts = np.cumsum(sizes) - sizes
    targets = np.maximum.reduceat(numbers, starts)
    return Ragged.from_lengths(torch.from_numpy(numbers[:, None]), sizes.tolist()), torch.from_numpy(
        targets
    )


def constant_error(targets: Tensor) -> float:
    """Mean absolute error of the best constant guess, the median; 14.5 for the paper's sets."""
    return (targets - targets.median()).abs().mean().item()
