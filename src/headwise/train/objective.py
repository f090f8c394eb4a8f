"""The interface between tasks and the training loop."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from torch import Tensor


class Objective(Protocol):
    """A training loss, and scores on dev."""

    @property
    def lengths(self) -> np.ndarray:
        """Number of words of each training text, `[texts]`."""
        ...

    def loss(self, texts: Sequence[int]) -> Tensor:
        """Sum of the losses of these training texts, a scalar with its autograd graph."""
        ...

    def evaluate(self) -> Mapping[str, float]:
        """Dev scores of the model as it is; they include each score that `TrainConfig.score` may name."""
        ...
