"""SplitFeatures: the sparse features of a linear model, without those that only one text has.

The weight of such a feature is `r_fk^2 x_if y_ik alpha_ik`, with i its only text. So what it adds to the
score of this text is proportional to the text's own dual variable, and the solver reads it from the
diagonal of the dual. In short texts half of the features are of this kind, and their weights would not fit
into the cache of the processor beside the others.
"""

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from headwise.core import native

Floats = NDArray[np.float32]

_TEXTS_AT_ONCE = 4_096  # whose squared features are in memory


@dataclass(frozen=True)
class SplitFeatures:
    """The features of a matrix that several texts have, and what the solver needs of the others.

    Attributes:
        shared: The matrix of the features that several texts have, `[texts, shared]`.
        squares: Squared ratios of these features, `[shared, columns]`; None without.
        norms: Their `feature_norms`.
        diagonal: What the other features add to the diagonal of the dual, `[texts, columns]`, or the same
            for all columns, `[texts, 1]`.
    """

    shared: csr_matrix
    squares: Floats | None
    norms: Floats
    diagonal: Floats
    _features: int
    _shared_places: NDArray[np.int64]
    _places: NDArray[np.int32]
    _texts: NDArray[np.int64]
    _values: Floats  # of the other features, times their squared ratios

    @classmethod
    def of(cls, sparse: csr_matrix, ratios: Floats | None) -> "SplitFeatures":
        """The features of a matrix, `[texts, features]`, with their ratios, `[features, columns]`."""
        texts, features = cast(tuple[int, int], sparse.shape)
        indptr, indices = np.asarray(sparse.indptr, np.int64), np.asarray(sparse.indices, np.int32)
        at, ends, numbers, values, owners, places, alone = native.split_unshared(
            indptr, indices, np.asarray(sparse.data, np.float32), features
        )
        shared = csr_matrix((values, numbers, ends), shape=(texts, len(at)))
        squares, weighted = None, alone[:, None]
        if ratios is not None:
            squares = np.ascontiguousarray(ratios[at] ** 2, dtype=np.float32)
            weighted = weighted * ratios[places] ** 2
        diagonal = np.empty((texts, weighted.shape[1]), dtype=np.float32)
        for column in range(weighted.shape[1]):
            diagonal[:, column] = np.bincount(owners, alone * weighted[:, column], texts)
        norms = feature_norms(shared, squares)
        return cls(shared, squares, norms, diagonal, features, at, places, owners, weighted)

    def all_weights(self, weights: Floats, steps: Floats) -> Floats:
        """The weights of all features, `[features, columns]`.

        Args:
            weights: Weights of the features that several texts have, `[shared, columns]`.
            steps: Signs times dual variables, `[texts, columns]`.
        """
        full = np.zeros((self._features, weights.shape[1]), dtype=np.float32)
        full[self._shared_places] = weights
        full[self._places] = self._values * steps[self._texts]
        return full


def feature_norms(sparse: csr_matrix, squares: Floats | None) -> Floats:
    """The squared lengths of the rows of a matrix, `[texts, features]`, in each column with squared ratios,
    `[features, columns]`; without them `[texts, 1]`."""
    texts, features = cast(tuple[int, int], sparse.shape)
    norms = np.empty((texts, 1 if squares is None else squares.shape[1]), dtype=np.float32)
    for first in range(0, texts, _TEXTS_AT_ONCE):
        ends = sparse.indptr[first : first + _TEXTS_AT_ONCE + 1]
        entries = slice(int(ends[0]), int(ends[-1]))
        squared = csr_matrix(
            (sparse.data[entries] ** 2, sparse.indices[entries], ends - ends[0]), (len(ends) - 1, features)
        )
        rows = np.asarray(squared.sum(axis=1)).reshape(-1, 1) if squares is None else squared @ squares
        norms[first : first + len(rows)] = rows
    return norms
