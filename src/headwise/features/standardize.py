"""Standardise features that are numbers: mean 0 and deviation 1 over the training rows."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

LARGEST = 10.0  # deviations; what is further from the mean counts as this far
_CONSTANT = 1e-6  # deviation as a part of the numbers' size, below which it is rounding


class Standardizer(nn.Module):
    """Subtracts each feature's mean and divides by its deviation: constants that are saved with a model.

    A feature that does not vary in the training rows says nothing: it becomes 0. Nothing becomes larger
    than 10 deviations.

    Args:
        features: Number of features.
    """

    def __init__(self, features: int):
        super().__init__()
        self.mean: Tensor
        self.factor: Tensor
        self.register_buffer("mean", torch.zeros(features))
        self.register_buffer("factor", torch.ones(features))

    def fit(self, rows: Sequence[NDArray[np.float32]]) -> None:
        """Take the constants from arrays of rows, `[n, features]` each; without any row, keep them."""
        numbers = np.concatenate([*rows, np.zeros((0, len(self.mean)), np.float32)]).astype(np.float64)
        if not len(numbers):
            return
        mean, deviation = numbers.mean(0), numbers.std(0)
        varies = deviation > _CONSTANT * np.abs(numbers).max(0)
        factor = np.where(varies, 1 / np.where(varies, deviation, 1), 0)
        self.mean.copy_(torch.from_numpy(mean))
        self.factor.copy_(torch.from_numpy(factor.clip(max=np.finfo(np.float32).max)))

    def forward(self, rows: Tensor) -> Tensor:
        """`[n, features]` -> the same shape."""
        # Infinity times 0, where a constant feature has a huge number now.
        return ((rows - self.mean) * self.factor).nan_to_num(nan=0.0).clamp(-LARGEST, LARGEST)
