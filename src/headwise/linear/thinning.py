"""Pruning of the weights of linear models with very many labels."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from headwise.linear.solver import Floats

FEW_LABELS = 32
"""Number of labels up to which all weights are kept."""
LEAST_SHARE = 0.05
"""Weights below this share of their feature's largest weight are dropped. With 77, 150 and 2,000 labels,
16, 9 and 3 % of the weights remain, at a cost of at most 0.1 points."""
MOST_KEPT = 2_000_000
"""Maximum number of weights after pruning, 3 bytes each; those with the largest shares are kept."""
_PORTION = 1 << 22  # weights per portion


def thinned(weights: Floats | csr_matrix) -> Floats | csr_matrix:
    """Prune weights `[features, columns]` to a sparse matrix; they are returned as they are where there are
    few columns, or where they are sparse already."""
    if isinstance(weights, csr_matrix) or weights.shape[1] <= FEW_LABELS:
        return weights
    portion = max(_PORTION // weights.shape[1], 1)
    parts = [_above(weights[at : at + portion]) for at in range(0, len(weights), portion)]
    sparse = csr_matrix(vstack(parts or [csr_matrix(weights)], format="csr", dtype=np.float32))
    if sparse.nnz > MOST_KEPT:
        shares = np.abs(sparse.data) / np.repeat(largest(sparse), np.diff(np.asarray(sparse.indptr)))
        least = np.partition(shares, -MOST_KEPT)[-MOST_KEPT]
        sparse.data[shares < least] = 0
        sparse.eliminate_zeros()
    return sparse


def largest(weights: Floats | csr_matrix) -> NDArray[np.float32]:
    """The largest absolute weight of each feature, `[features]`."""
    if not isinstance(weights, csr_matrix):
        return np.abs(weights).max(axis=1, initial=0)
    sizes = np.diff(np.asarray(weights.indptr))
    maxima = np.zeros(len(sizes), dtype=np.float32)
    np.maximum.at(maxima, np.repeat(np.arange(len(sizes)), sizes), np.abs(weights.data))
    return maxima


def _above(weights: Floats) -> csr_matrix:
    """The weights above `LEAST_SHARE`, as a sparse matrix."""
    sizes = np.abs(weights)
    return csr_matrix(np.where(sizes >= LEAST_SHARE * sizes.max(axis=1, keepdims=True), weights, 0))
