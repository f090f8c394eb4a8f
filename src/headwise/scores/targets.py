"""Targets that may be certain, label numbers `[texts]`, or probabilities of labels, `[texts, classes]`."""

import numpy as np
from numpy.typing import NDArray


def likeliest(targets: NDArray) -> NDArray[np.int64]:
    """The number of each text's (likeliest) label."""
    return targets if targets.ndim == 1 else targets.argmax(axis=1)


def right_of(said: NDArray[np.int64], targets: NDArray) -> NDArray:
    """Whether what is said of each text is right; of probabilities, how likely that is: both `[texts]`."""
    return said == targets if targets.ndim == 1 else targets[np.arange(len(said)), said]


def spread(texts: int) -> float:
    """The share of a target that all labels have together, where there are so many held-out texts."""
    return 1.0 / (texts + 2)


def smoothed(targets: NDArray, classes: int) -> NDArray[np.float64]:
    """A share of each text, that of one text of all and one more, is spread over all labels (Platt 1999):
    `[texts, classes]`."""
    unsure = spread(len(targets))
    certain = np.eye(classes)[targets] if targets.ndim == 1 else targets.astype(np.float64)
    return unsure / classes + (1 - unsure) * certain
