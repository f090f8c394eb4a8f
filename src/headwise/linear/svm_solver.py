"""Linear support vector machines for all labels at once: dual coordinate descent in Numba.

For each label k, and texts x_i with signs y_ik and costs c_ik, the weights minimise

    1/2 |w_k|^2 + sum_i c_ik max(0, 1 - y_ik w_k x_i)^2

as in liblinear (Hsieh, Chang, Lin, Keerthi, Sundararajan: A dual coordinate descent method for large-scale
linear SVM; ICML 2008). All labels are solved together: a text is read once for all of them, and the inner
loops run over labels, which are adjacent in memory. 77 labels cost a few times as much as one.

With ratios r_fk, the SVM of label k sees r_fk x_if instead of x_if (NB-SVM: Wang & Manning, Baselines and
bigrams; ACL 2012). The returned weights apply to x itself.

With numeric targets t_ik instead of labels, the loss is c_ik (w_k x_i - t_ik)^2: ridge regression by the
same algorithm (Ho, Lin: Large-scale linear support vector regression; JMLR 2012).

With offsets o_ik, the scores are w_k x_i + o_ik: the weights learn a correction to the scores of a previous
model, and stay small where those were right.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from headwise.core.numba_cache import compiled_kernel
from headwise.core.threads import raise_if_halted

Floats = NDArray[np.float32]

TOLERANCE = 0.05
"""Training ends when no text violates its optimality condition by more than this, in units of the
margin."""
MAX_EPOCHS = 60


@dataclass(frozen=True)
class DesignMatrix:
    """The design matrix of a linear model: one row per text.

    Attributes:
        sparse: Word and character features, `[texts, features]`.
        dense: Dense features, `[texts, size]`; the size may be 0.
    """

    sparse: csr_matrix
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

    weights: Floats | csr_matrix
    dense: Floats
    bias: Floats

    def scores(self, rows: DesignMatrix) -> Floats:
        """The scores of the rows, `[texts, columns]`."""
        products = rows.sparse @ self.weights
        products = products.toarray() if isinstance(products, csr_matrix) else products
        return np.asarray(products + rows.dense @ self.dense + self.bias, dtype=np.float32)


def fit_svm_columns(
    rows: DesignMatrix,
    signs: NDArray[np.int8],
    costs: Floats,
    *,
    ratios: Floats | None = None,
    offsets: Floats | None = None,
    targets: Floats | None = None,
    seed: int = 0,
    tolerance: float | None = None,
) -> LinearWeights:
    """Fit a linear support vector machine for each column.

    Args:
        rows: The design matrix.
        signs: 1 or -1 for each text and column, `[texts, columns]`.
        costs: The penalty parameter C of each text in each column, `[texts, columns]`, or the same in all,
            `[texts, 1]`; texts of cost 0 are skipped.
        ratios: Factors of the sparse features, `[features, columns]`.
        offsets: Values added to the scores, `[texts, columns]`; none by default.
        targets: Numeric targets for regression, `[texts, columns]`; all signs must be 1.
        seed: Seed for the order of the texts.
        tolerance: Stopping tolerance; `TOLERANCE` by default.
    """
    columns = signs.shape[1]
    sparse = rows.sparse
    with np.errstate(divide="ignore"):
        slack = (0.5 / costs).astype(np.float32)
    dense_norms = np.einsum("nd,nd->n", rows.dense, rows.dense)[:, None] + 1  # plus 1 for the bias
    squared = csr_matrix((sparse.data**2, sparse.indices, sparse.indptr), shape=sparse.shape)
    if ratios is None:
        squares = np.zeros((0, columns), dtype=np.float32)
        norms = np.asarray(squared.sum(axis=1)).reshape(-1, 1) + dense_norms
    else:
        squares = np.ascontiguousarray(ratios**2, dtype=np.float32)
        norms = squared @ squares + dense_norms
    weights = np.zeros((rows.features, columns), dtype=np.float32)
    dense = np.zeros((rows.dense.shape[1], columns), dtype=np.float32)
    bias = np.zeros(columns, dtype=np.float32)
    alpha = np.zeros(signs.shape, dtype=np.float32)
    random = np.random.default_rng(seed)
    every = np.flatnonzero(np.isfinite(slack).any(axis=1))
    indptr, indices = np.asarray(sparse.indptr, np.int64), np.asarray(sparse.indices, np.int32)
    values, vectors = np.asarray(sparse.data, np.float32), np.ascontiguousarray(rows.dense)
    norms = np.ascontiguousarray(norms, dtype=np.float32)
    none = np.zeros((0, columns), dtype=np.float32)
    offset_rows = none if offsets is None else np.ascontiguousarray(offsets, dtype=np.float32)
    numbers = none if targets is None else np.ascontiguousarray(targets, dtype=np.float32)
    for _ in range(MAX_EPOCHS):
        raise_if_halted()
        worst = _epoch(
            random.permutation(every),
            indptr,
            indices,
            values,
            vectors,
            signs,
            slack,
            norms,
            squares,
            offset_rows,
            numbers,
            alpha,
            weights,
            dense,
            bias,
        )
        if worst < (TOLERANCE if tolerance is None else tolerance):
            break
    return LinearWeights(weights, dense, bias)


@compiled_kernel(fastmath={"contract", "reassoc", "nsz"})
def _epoch(
    order: NDArray[np.int64],
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: Floats,
    dense: Floats,
    signs: NDArray[np.int8],
    slack: Floats,
    norms: Floats,
    squares: Floats,
    offsets: Floats,
    targets: Floats,
    alpha: Floats,
    weights: Floats,
    dense_weights: Floats,
    bias: Floats,
) -> float:
    """One pass over the texts; returns the largest violation of an optimality condition."""
    columns, width = weights.shape[1], dense.shape[1]
    scores = np.empty(columns, dtype=np.float32)
    steps = np.empty(columns, dtype=np.float32)
    ratios, offset, number = squares.shape[0] > 0, offsets.shape[0] > 0, targets.shape[0] > 0
    same_cost, same_norm = slack.shape[1] == 1, norms.shape[1] == 1
    worst = np.float32(0)
    for text in order:
        start, end = indptr[text], indptr[text + 1]
        if columns == 1:
            score = bias[0]
            for at in range(start, end):
                score += values[at] * weights[indices[at], 0]
            for at in range(width):
                score += dense[text, at] * dense_weights[at, 0]
            scores[0] = score
        else:
            for k in range(columns):
                scores[k] = bias[k]
            for at in range(start, end):
                value, row = values[at], indices[at]
                for k in range(columns):
                    scores[k] += value * weights[row, k]
            for at in range(width):
                value = dense[text, at]
                for k in range(columns):
                    scores[k] += value * dense_weights[at, k]
        if offset:
            for k in range(columns):
                scores[k] += offsets[text, k]
        moved = False
        for k in range(columns):
            steps[k] = 0
            diagonal = slack[text, 0 if same_cost else k]
            if diagonal == np.inf:
                continue
            y, now = np.float32(signs[text, k]), alpha[text, k]
            gradient = y * scores[k] - (targets[text, k] if number else np.float32(1)) + diagonal * now
            if now == 0 and gradient >= 0 and not number:
                continue
            worst = max(worst, abs(gradient))
            new = now - gradient / (norms[text, 0 if same_norm else k] + diagonal)
            if not number:
                new = max(new, np.float32(0))
            if new != now:
                alpha[text, k] = new
                steps[k] = (new - now) * y
                bias[k] += steps[k]
                moved = True
        if not moved:
            continue
        if columns == 1:
            step = steps[0]
            for at in range(start, end):
                square = squares[indices[at], 0] if ratios else np.float32(1)
                weights[indices[at], 0] += values[at] * square * step
        else:
            for at in range(start, end):
                value, row = values[at], indices[at]
                if ratios:
                    for k in range(columns):
                        weights[row, k] += value * squares[row, k] * steps[k]
                else:
                    for k in range(columns):
                        weights[row, k] += value * steps[k]
        for at in range(width):
            value = dense[text, at]
            for k in range(columns):
                dense_weights[at, k] += value * steps[k]
    return float(worst)
