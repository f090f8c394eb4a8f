"""What the training loop needs to know of a task."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from torch import Tensor


class Objective(Protocol):
    """Training texts with their loss, and a score on held-out texts."""

    @property
    def lengths(self) -> np.ndarray:
        """Words of each training text, `[texts]`."""
        ...

    def loss(self, texts: Sequence[int]) -> Tensor:
        """Sum of the losses of these training texts, a scalar with its graph."""
        ...

    def evaluate(self) -> Mapping[str, float]:
        """Scores on the dev texts with the model as it is: at least what `TrainConfig.score` may name."""
        ...
