"""What leads: vectors whose large directions count for more than their small ones.

A linear model with few texts cannot learn a weight for every direction of the vectors it reads. Along a
direction in which the texts hardly differ it learns noise. With `vectors @ leading(vectors)` in place of
`vectors` a penalty on its weights is one on `w @ inv(C) @ w`, C the covariance of the vectors: as much is
expected of a direction, before labels are seen, as the texts vary along it.
"""

import numpy as np
from numpy.typing import NDArray

from headwise.threads import one_blas_thread

_ROWS = 8_192


def leading(vectors: NDArray[np.floating], most: int = 256) -> NDArray[np.float32]:
    """The square root of the covariance of some vectors, so scaled that they keep their mean squared
    distance from their mean; the identity where they do not differ.

    Args:
        vectors: `[texts, size]`.
        most: Of longer vectors only so many directions are kept, the largest.

    Returns:
        A symmetric matrix, `[size, size]`; of longer vectors `[size, most]`. What a linear model learns of
        `vectors @ matrix` it says of `vectors` with the weights `matrix @ weights`.
    """
    size = vectors.shape[1]
    mean = vectors.mean(axis=0, dtype=np.float64) if len(vectors) else np.zeros(size)
    covariance = np.zeros((size, size))
    with one_blas_thread():  # the same sums on any number of cores
        for first in range(0, len(vectors), _ROWS):
            away = vectors[first : first + _ROWS] - mean
            covariance += away.T @ away
        values, axes = np.linalg.eigh(covariance)
        values = np.sqrt(np.maximum(values, 0))
        squares = (values**4).sum()
        if not squares > 0:
            return np.eye(size, min(size, most), dtype=np.float32)
        root = axes * (values * np.sqrt((values**2).sum() / squares))
        root = root @ axes.T if size <= most else root[:, -most:]
    return root.astype(np.float32)
