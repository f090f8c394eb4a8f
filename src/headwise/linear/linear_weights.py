"""The weights of a linear model, and the features that they are multiplied by."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class DesignMatrix:
    """The design matrix of a linear model: one row per text.

    Attributes:
        sparse: Word and character features, `[texts, features]`.
        dense: Dense features, `[texts, size]`; the size may be 0.
    """

    sparse: "csr_matrix"
    dense: Floats

    def __len__(self) -> int:
        return self.dense.shape[0]

    @property
    def features(self) -> int:
        """Number of sparse features."""
        return int(self.sparse.shape[1])  # type: ignore[index]

    def take(self, texts: NDArray[np.int64]) -> "DesignMatrix":
        """The rows of a subset of the texts."""
        return DesignMatrix(self.sparse[texts], self.dense[texts])


@dataclass(frozen=True)
class LinearWeights:
    """The weights of a linear model; with two labels, only the second has a column.

    Attributes:
        weights: Weights of the sparse features, `[features, columns]`; a sparse matrix where very many
            labels have mostly zeros.
        dense: Weights of the dense features, `[size, columns]`.
        bias: `[columns]`.
    """

    weights: "Floats | csr_matrix"
    dense: Floats
    bias: Floats

    def scores(self, rows: DesignMatrix) -> Floats:
        """The scores of the rows, `[texts, columns]`."""
        products = rows.sparse @ self.weights
        products = products if isinstance(products, np.ndarray) else products.toarray()
        return np.asarray(products + rows.dense @ self.dense + self.bias, dtype=np.float32)
