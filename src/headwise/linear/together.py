"""Train-plus-dev data: the final fit of a baseline where the model is refitted on them too."""

from collections.abc import Sequence
from typing import Any

import numpy as np


def together(
    train: tuple[Sequence[Any], np.ndarray], dev: tuple[Sequence[Any], np.ndarray]
) -> tuple[list[Any], np.ndarray]:
    """Concatenate training and dev items, and their targets, `[items, ...]`."""
    return [*train[0], *dev[0]], np.concatenate([train[1], dev[1]])
