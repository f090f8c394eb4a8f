"""Linear support vector machines for all labels at once, by dual coordinate descent.

For each label k, and texts x_i with signs y_ik and costs c_ik, the weights minimise

    1/2 |w_k|^2 + sum_i c_ik max(0, 1 - y_ik w_k x_i)^2

as in liblinear (Hsieh, Chang, Lin, Keerthi, Sundararajan: A dual coordinate descent method for large-scale
linear SVM; ICML 2008). Labels are solved in blocks of up to 16: a text is read once for all of a block, and
the inner loops run over its labels, which are adjacent in memory. Blocks do not depend on each other, so
they run in parallel, with the same results on any number of threads.

With ratios r_fk, the SVM of label k sees r_fk x_if instead of x_if (NB-SVM: Wang & Manning, Baselines and
bigrams; ACL 2012). The returned weights apply to x itself.

With numeric targets t_ik instead of labels, the loss is c_ik (w_k x_i - t_ik)^2: ridge regression by the
same algorithm (Ho, Lin: Large-scale linear support vector regression; JMLR 2012).

With offsets o_ik, the scores are w_k x_i + o_ik: the weights learn a correction to the scores of a previous
model, and stay small where those were right.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from headwise.core import native
from headwise.core.threads import raise_if_halted, run_jobs, usable_threads

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

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
    """Fit a linear support vector machine for each column; see `fit_svm_path` for the arguments."""
    how: dict[str, Any] = {"ratios": ratios, "offsets": offsets, "targets": targets}
    return next(fit_svm_path(rows, signs, costs, (1.0,), **how, seed=seed, tolerance=tolerance))


def fit_svm_path(
    rows: DesignMatrix,
    signs: NDArray[np.int8],
    costs: Floats,
    strengths: Sequence[float],
    *,
    ratios: Floats | None = None,
    offsets: Floats | None = None,
    targets: Floats | None = None,
    seed: int = 0,
    tolerance: float | None = None,
) -> Iterator[LinearWeights]:
    """Fit linear support vector machines for one strength after another; each but the first starts from the
    scaled solution of the previous one, which saves a third of the passes.

    Args:
        rows: The design matrix.
        signs: 1 or -1 for each text and column, `[texts, columns]`.
        costs: The penalty parameter C of each text in each column, `[texts, columns]`, or the same in all,
            `[texts, 1]`; texts of cost 0 are skipped.
        strengths: Factors of the costs.
        ratios: Factors of the sparse features, `[features, columns]`.
        offsets: Values added to the scores, `[texts, columns]`; none by default.
        targets: Numeric targets for regression, `[texts, columns]`; all signs must be 1.
        seed: Seed for the order of the texts.
        tolerance: Stopping tolerance; `TOLERANCE` by default.
    """
    columns = signs.shape[1]
    sparse = rows.sparse
    dense_norms = np.einsum("nd,nd->n", rows.dense, rows.dense)[:, None] + 1  # plus 1 for the bias
    from scipy.sparse import csr_matrix  # slow to load, and predictions do without

    squared = csr_matrix((sparse.data**2, sparse.indices, sparse.indptr), shape=sparse.shape)
    squares = None if ratios is None else np.ascontiguousarray(ratios**2, dtype=np.float32)
    feature_norms = np.asarray(squared.sum(axis=1)).reshape(-1, 1) if squares is None else squared @ squares
    matrix = (
        np.asarray(sparse.indptr, np.int64),
        np.asarray(sparse.indices, np.int32),
        np.asarray(sparse.data, np.float32),
        rows.features,
        np.ascontiguousarray(rows.dense),
        np.ascontiguousarray(signs),
    )
    further = (
        np.ascontiguousarray(feature_norms + dense_norms, dtype=np.float32),
        None if offsets is None else np.ascontiguousarray(offsets, dtype=np.float32),
        None if targets is None else np.ascontiguousarray(targets, dtype=np.float32),
    )
    blocks = [
        _LabelBlock.zeros(first, min(columns - first, MOST_WIDTH), rows, squares)
        for first in range(0, columns, MOST_WIDTH)
    ]
    alpha = np.zeros(signs.shape, dtype=np.float32)
    work = float(sparse.nnz + rows.dense.size) * columns
    threads = usable_threads() if len(blocks) > 1 and work > LEAST_THREADED else 1
    for number, strength in enumerate(strengths):
        if number > 0:  # alpha is twice the cost times the violation of the margin
            factor = np.float32(strength / strengths[number - 1])
            alpha *= factor
            for block in blocks:
                block.scale(factor)
        with np.errstate(divide="ignore"):
            slack = (0.5 / (costs * np.float32(strength))).astype(np.float32)
        problem = native.SvmProblem(*matrix, slack, *further)
        texts = np.flatnonzero(np.isfinite(slack).any(axis=1))
        _solve(problem, texts, blocks, alpha, seed, TOLERANCE if tolerance is None else tolerance, threads)
        yield _joined(blocks, rows)


def _solve(
    problem: native.SvmProblem,
    texts: NDArray[np.int64],
    blocks: "list[_LabelBlock]",
    alpha: Floats,
    seed: int,
    tolerance: float,
    threads: int,
) -> None:
    """Pass over the texts in random order until no column violates its optimality conditions."""
    random = np.random.default_rng(seed)
    violations = np.zeros(len(blocks))
    for _ in range(MAX_EPOCHS):
        raise_if_halted()
        order = random.permutation(texts)

        def run_epoch(number: int, order: NDArray[np.int64] = order) -> None:
            violations[number] = blocks[number].epoch(problem, order, alpha)

        run_jobs(run_epoch, range(len(blocks)), threads)
        if violations.max(initial=0) < tolerance:
            break


MOST_WIDTH = 16
"""Labels per block: their weights of a feature fill a cache line."""
LEAST_THREADED = 1e6
"""Non-zero features times columns from which on blocks run in parallel."""
_WIDTHS = (1, 4, 8, MOST_WIDTH)
_LINE = 64  # bytes of a cache line


@dataclass(frozen=True)
class _LabelBlock:
    """The weights of some adjacent columns, padded with zeros to one of `_WIDTHS`.

    Attributes:
        first: The first column.
        columns: Number of columns.
        squares: Squared ratios, `[features, width]`; None without.
        weights, dense, bias: The weights so far, `[features, width]`, `[size, width]` and `[width]`.
    """

    first: int
    columns: int
    squares: Floats | None
    weights: Floats
    dense: Floats
    bias: Floats

    @classmethod
    def zeros(cls, first: int, columns: int, rows: DesignMatrix, squares: Floats | None) -> "_LabelBlock":
        """A block whose weights are 0."""
        width = next(width for width in _WIDTHS if width >= columns)
        padded = None
        if squares is not None:
            padded = _aligned_zeros(rows.features, width)
            padded[:, :columns] = squares[:, first : first + columns]
        weights, dense = _aligned_zeros(rows.features, width), _aligned_zeros(rows.dense.shape[1], width)
        return cls(first, columns, padded, weights, dense, np.zeros(width, dtype=np.float32))

    def epoch(self, problem: native.SvmProblem, order: NDArray[np.int64], alpha: Floats) -> float:
        """One pass over the texts; returns the largest violation of an optimality condition."""
        return problem.epoch(order, self.first, self.squares, alpha, self.weights, self.dense, self.bias)

    def scale(self, factor: np.float32) -> None:
        """Multiply the weights."""
        for numbers in (self.weights, self.dense, self.bias):
            numbers *= factor


def _aligned_zeros(rows: int, width: int) -> Floats:
    """Zeros whose first number begins a cache line, `[rows, width]`."""
    numbers = np.zeros(rows * width + _LINE // 4, dtype=np.float32)
    begin = -numbers.ctypes.data % _LINE // 4
    return numbers[begin : begin + rows * width].reshape(rows, width)


def _joined(blocks: list[_LabelBlock], rows: DesignMatrix) -> LinearWeights:
    """The weights of all blocks, side by side."""
    columns = blocks[-1].first + blocks[-1].columns
    joined = LinearWeights(
        np.empty((rows.features, columns), dtype=np.float32),
        np.empty((rows.dense.shape[1], columns), dtype=np.float32),
        np.empty(columns, dtype=np.float32),
    )
    for block in blocks:
        place = slice(block.first, block.first + block.columns)
        joined.weights[:, place] = block.weights[:, : block.columns]
        joined.dense[:, place] = block.dense[:, : block.columns]
        joined.bias[place] = block.bias[: block.columns]
    return joined
