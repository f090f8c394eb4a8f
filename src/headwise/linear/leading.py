"""Covariance root: rescales vectors so that directions of large variance count for more.

A linear model with few texts cannot learn a weight for every direction of its input vectors; along a
direction of little variance it learns noise. With `vectors @ leading(vectors)` instead of `vectors`, an L2
penalty on the weights becomes `w @ inv(C) @ w`, where C is the covariance of the vectors: a prior by which
weights are expected to be larger along directions of large variance.
"""

import numpy as np
from numpy.typing import NDArray

from headwise.threads import one_blas_thread

_ROWS = 8_192


def leading(vectors: NDArray[np.floating], most: int = 256) -> NDArray[np.float32]:
    """The symmetric square root of the covariance of vectors, scaled to keep their mean squared distance
    from the mean; the identity where the vectors do not differ.

    Args:
        vectors: `[texts, size]`.
        most: Maximum number of directions; of longer vectors, the largest are used.

    Returns:
        A symmetric matrix, `[size, size]`; of longer vectors `[size, most]`. Weights learned on `vectors @
        matrix` are the weights `matrix @ weights` on `vectors`.
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
