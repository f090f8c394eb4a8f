"""Single-label targets: label indices, `[texts]`, or soft labels (probabilities), `[texts, classes]`."""

import numpy as np
from numpy.typing import NDArray


def likeliest(targets: NDArray) -> NDArray[np.int64]:
    """The index of each text's (most probable) label, `[texts]`."""
    return targets if targets.ndim == 1 else targets.argmax(axis=1)


def right_of(predicted: NDArray[np.int64], targets: NDArray) -> NDArray:
    """Whether each predicted label is right, `[texts]`; for soft labels, its target probability."""
    return predicted == targets if targets.ndim == 1 else targets[np.arange(len(predicted)), predicted]


def spread(texts: int) -> float:
    """The smoothing mass of each target, spread over all labels, for `texts` held-out texts (Platt
    1999)."""
    return 1.0 / (texts + 2)


def smoothed(targets: NDArray, classes: int) -> NDArray[np.float64]:
    """Targets smoothed towards the uniform distribution with the mass `spread(texts)` (Platt 1999),
    `[texts, classes]`."""
    unsure = spread(len(targets))
    certain = np.eye(classes)[targets] if targets.ndim == 1 else targets.astype(np.float64)
    return unsure / classes + (1 - unsure) * certain
