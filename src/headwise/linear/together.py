"""What a baseline is fitted on once dev has chosen, where the model beside it is trained again, too."""

from collections.abc import Sequence
from typing import Any

import numpy as np


def together(
    train: tuple[Sequence[Any], np.ndarray], dev: tuple[Sequence[Any], np.ndarray]
) -> tuple[list[Any], np.ndarray]:
    """Training and dev items, and their targets, `[items, ...]`."""
    return [*train[0], *dev[0]], np.concatenate([train[1], dev[1]])
