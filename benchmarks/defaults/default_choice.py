"""How the rivals of default.py choose their settings: cross-validation on their own texts."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

Setting = TypeVar("Setting")
Texts = Any  # features `[texts, size]`, dense or sparse, or a list
_FOLDS = ((500, 5), (5_000, 3))


def folds(targets: np.ndarray, seed: int = 0) -> list[tuple[np.ndarray, np.ndarray]]:
    """Rows for training and rows held out, with the labels' shares in both: five folds, three above 500
    texts, and a fifth of the texts held out once above 5,000."""
    order = np.random.default_rng(seed).permutation(len(targets))
    order = order[np.argsort(targets[order], kind="stable")]  # label by label, dealt out in turn
    count = next((number for most, number in _FOLDS if len(order) <= most), None)
    held = [order[fold :: count or 5] for fold in range(count or 1)]
    every = np.arange(len(order))
    return [(np.setdiff1d(every, rows), np.sort(rows)) for rows in held if 0 < len(rows) < len(order)]


def choose(
    settings: Sequence[Setting],
    predict: Callable[[Setting, np.ndarray, np.ndarray], np.ndarray],
    targets: np.ndarray,
) -> tuple[Setting, float]:
    """The first of the settings that has the best accuracy on the texts held out, and that accuracy.

    Args:
        predict: Of a setting, the rows to train on and the rows to label: label numbers of the latter.
        targets: Label numbers, `[texts]`.
    """
    parts = folds(targets)
    right = [
        sum(int((predict(setting, train, held) == targets[held]).sum()) for train, held in parts)
        for setting in settings
    ]
    best = int(np.argmax(right))
    return settings[best], right[best] / max(sum(len(held) for _, held in parts), 1)
