"""Standardisation of numeric features to mean 0 and standard deviation 1 over the training rows."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

LARGEST = 10.0  # standard deviations to which outputs are clipped
_CONSTANT = 1e-6  # deviation relative to the largest value, below which a feature counts as constant


class Standardizer(nn.Module):
    """Subtracts the mean of each feature and divides by its standard deviation; both are saved buffers.

    A feature that is constant in the training rows becomes 0. Outputs are clipped to 10 deviations.

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
        """Estimate mean and deviation from arrays `[n, features]`; without any row, nothing changes."""
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
        # A constant feature that is huge now gives infinity times 0.
        return ((rows - self.mean) * self.factor).nan_to_num(nan=0.0).clamp(-LARGEST, LARGEST)
