"""thinned: weights of very many labels without those that say next to nothing."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from headwise.linear.solver import Floats

FEW_LABELS = 32
"""Labels up to which all weights are kept."""
LEAST_SHARE = 0.05
"""Of a feature's largest weight; those below are dropped. Of 77, 150 and 2,000 labels 16, 9 and 3 % are
left, at no more than a tenth of a point."""
MOST_KEPT = 2_000_000
"""Weights that are kept at most, 3 bytes each: the largest shares."""
_PORTION = 1 << 22  # weights that are looked at together


def thinned(weights: Floats | csr_matrix) -> Floats | csr_matrix:
    """The weights `[features, columns]` that are worth keeping, sparse; all of them, as they are, where
    there are few columns or they are sparse already."""
    if isinstance(weights, csr_matrix) or weights.shape[1] <= FEW_LABELS:
        return weights
    portion = max(_PORTION // weights.shape[1], 1)
    parts = [_above(weights[at : at + portion]) for at in range(0, len(weights), portion)]
    kept = csr_matrix(vstack(parts or [csr_matrix(weights)], format="csr", dtype=np.float32))
    if kept.nnz > MOST_KEPT:
        shares = np.abs(kept.data) / np.repeat(largest(kept), np.diff(np.asarray(kept.indptr)))
        least = np.partition(shares, -MOST_KEPT)[-MOST_KEPT]
        kept.data[shares < least] = 0
        kept.eliminate_zeros()
    return kept


def largest(weights: Floats | csr_matrix) -> NDArray[np.float32]:
    """The largest weight of each feature, without its sign, `[features]`."""
    if not isinstance(weights, csr_matrix):
        return np.abs(weights).max(axis=1, initial=0)
    sizes = np.diff(np.asarray(weights.indptr))
    found = np.zeros(len(sizes), dtype=np.float32)
    np.maximum.at(found, np.repeat(np.arange(len(sizes)), sizes), np.abs(weights.data))
    return found


def _above(weights: Floats) -> csr_matrix:
    """The weights above the least share."""
    sizes = np.abs(weights)
    return csr_matrix(np.where(sizes >= LEAST_SHARE * sizes.max(axis=1, keepdims=True), weights, 0))
