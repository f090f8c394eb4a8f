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

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from headwise.core import native
from headwise.core.threads import raise_if_halted, run_jobs, usable_threads
from headwise.linear.linear_weights import DesignMatrix, Floats, LinearWeights
from headwise.linear.split_features import SplitFeatures, feature_norms

TOLERANCE = 0.05
"""Training ends when no text violates its optimality condition by more than this, in units of the
margin."""
MAX_EPOCHS = 60


@dataclass(frozen=True)
class LinearProblem:
    """The input of the solver.

    Attributes:
        rows: The design matrix.
        signs: 1 or -1 for each text and column, `[texts, columns]`.
        costs: The penalty parameter C of each text in each column, `[texts, columns]`, or the same in all,
            `[texts, 1]`; texts of cost 0 are skipped.
        offsets: Values added to the scores, `[texts, columns]`; none by default.
        targets: Numeric targets for regression, `[texts, columns]`; all signs must be 1.
    """

    rows: DesignMatrix
    signs: NDArray[np.int8]
    costs: NDArray
    offsets: Floats | None = None
    targets: Floats | None = None


def naive_bayes_ratios(problems: Iterable[LinearProblem]) -> Floats:
    """Naive Bayes ratios, `[features, columns]`: the mean of 1 and the absolute log ratio between the
    frequency of a feature inside and outside a label. Texts count by their costs."""
    total: Floats | None = None
    for problem in problems:
        sparse, signs, costs = problem.rows.sparse, problem.signs, problem.costs
        there = csr_matrix((np.ones_like(sparse.data), sparse.indices, sparse.indptr), shape=sparse.shape)
        both = [np.where(sign * signs > 0, costs, 0) for sign in (1, -1)]
        counts = there.T @ np.hstack(both).astype(np.float32)
        if total is None:
            total = counts
        else:
            total += counts
    if total is None:
        raise ValueError("there are no texts")
    if not len(total):
        return np.hsplit(total, 2)[0]
    # Column by column, as sums and logarithms of short rows take several times as long.
    inside, outside = (np.ascontiguousarray(counts.T) + 1 for counts in np.hsplit(total, 2))
    factors = (outside.sum(axis=1) / inside.sum(axis=1))[:, None]
    ratios = np.abs(np.log(inside * factors / outside))
    return np.ascontiguousarray((0.5 + 0.5 * ratios).T, dtype=np.float32)


def fit_svm_columns(problem: LinearProblem, **options: Any) -> LinearWeights:
    """Fit a linear support vector machine for each column; see `fit_svm_path` for the options."""
    return next(fit_svm_path(problem, (1.0,), **options))


def fit_svm_path(
    problem: LinearProblem,
    strengths: Sequence[float],
    *,
    ratios: Floats | None = None,
    duals: Floats | None = None,
    features: SplitFeatures | None = None,
    seed: int = 0,
    tolerance: float | None = None,
) -> Iterator[LinearWeights]:
    """Fit linear support vector machines for one strength after another; each but the first starts from the
    scaled solution of the previous one, which saves a third of the passes.

    Args:
        problem: The texts.
        strengths: Factors of the costs.
        ratios: Factors of the sparse features, `[features, columns]`.
        duals: The dual variables to start from, 0 by default, `[texts, columns]`; they become those of the
            last solution.
        features: `SplitFeatures.of` the sparse features and the ratios, if it is there already.
        seed: Seed for the order of the texts.
        tolerance: Stopping tolerance; `TOLERANCE` by default.
    """
    rows, signs = problem.rows, problem.signs
    columns = signs.shape[1]
    split = features or SplitFeatures.of(rows.sparse, ratios)
    rows = DesignMatrix(split.shared, rows.dense)
    problem = replace(problem, rows=rows)
    compiled_problem = _solver(problem, split.norms)
    blocks = _zero_blocks(columns, rows.features, rows.dense.shape[1], split.squares)
    alpha = np.zeros(signs.shape, dtype=np.float32) if duals is None else duals
    threads, stop = _thread_count(rows, len(blocks), columns), TOLERANCE if tolerance is None else tolerance
    for strength in strengths:
        slack = _slack(problem.costs * np.float32(strength)) + split.diagonal
        if alpha.any():
            _start_from(blocks, replace(problem, costs=slack), alpha)
        texts = np.flatnonzero(np.isfinite(slack).any(axis=1))
        solver, random = compiled_problem(slack), np.random.default_rng(seed)
        for _ in range(MAX_EPOCHS):
            if _epoch(solver, random.permutation(texts), blocks, alpha, threads) < stop:
                break
        joined = _join_blocks(blocks, rows.features)
        weights = split.all_weights(np.asarray(joined.weights), np.multiply(signs, alpha, dtype=np.float32))
        yield replace(joined, weights=weights)


def fit_svm_portions(
    portions: Sequence[LinearProblem], *, ratios: Floats | None = None, seed: int = 0
) -> LinearWeights:
    """Fit a linear support vector machine for each column to texts that are read portion by portion.

    Each pass reads the portions in a new random order, and the texts of each in a new random order
    (block-shuffled dual descent). The texts of a portion are to be a random sample of all, not one label.

    Args:
        portions: The texts, at least one portion; an item is read each time that it is needed.
        ratios: Factors of the sparse features, `[features, columns]`.
        seed: Seed of the orders.
    """
    first = portions[0]
    columns, features = first.signs.shape[1], first.rows.features
    squares = None if ratios is None else np.ascontiguousarray(ratios**2, dtype=np.float32)
    blocks = _zero_blocks(columns, features, first.rows.dense.shape[1], squares)
    threads = _thread_count(first.rows, len(blocks), columns)
    alphas: list[Floats | None] = [None] * len(portions)
    random = np.random.default_rng(seed)
    for _ in range(MAX_EPOCHS):
        worst = 0.0
        for number in random.permutation(len(portions)).tolist():
            portion = portions[number]
            slack = _slack(portion.costs)
            texts = random.permutation(np.flatnonzero(np.isfinite(slack).any(axis=1)))
            alpha = alphas[number]
            if alpha is None:
                alpha = alphas[number] = np.zeros(portion.signs.shape, dtype=np.float32)
            norms = feature_norms(portion.rows.sparse, squares)
            worst = max(worst, _epoch(_solver(portion, norms)(slack), texts, blocks, alpha, threads))
        if worst < TOLERANCE:
            break
    return _join_blocks(blocks, features)


def _solver(problem: LinearProblem, norms: Floats) -> Callable[[Floats], native.SvmProblem]:
    """A function from the slack to the problem for the compiled solver, given its `feature_norms`."""
    rows, sparse = problem.rows, problem.rows.sparse
    dense_norms = np.einsum("nd,nd->n", rows.dense, rows.dense)[:, None] + 1  # plus 1 for the bias
    indptr, indices = np.asarray(sparse.indptr, np.int64), np.asarray(sparse.indices, np.int32)
    values = np.asarray(sparse.data, np.float32)
    dense, signs = np.ascontiguousarray(rows.dense), np.ascontiguousarray(problem.signs)
    norms = np.ascontiguousarray(norms + dense_norms, dtype=np.float32)
    offsets, targets = (
        None if numbers is None else np.ascontiguousarray(numbers, dtype=np.float32)
        for numbers in (problem.offsets, problem.targets)
    )
    return lambda slack: native.SvmProblem(
        indptr, indices, values, rows.features, dense, signs, slack, norms, offsets, targets
    )


def _slack(costs: NDArray) -> Floats:
    """The diagonal of the dual; infinite where the cost is 0."""
    with np.errstate(divide="ignore"):
        return (0.5 / costs).astype(np.float32)


def _thread_count(rows: DesignMatrix, blocks: int, columns: int) -> int:
    work = float(rows.sparse.nnz + rows.dense.size) * columns
    return usable_threads() if blocks > 1 and work > LEAST_THREADED else 1


def _epoch(
    problem: native.SvmProblem,
    order: NDArray[np.int64],
    blocks: "list[_LabelBlock]",
    alpha: Floats,
    threads: int,
) -> float:
    """Pass over texts in an order; returns the largest violation of an optimality condition."""
    raise_if_halted()
    violations = np.zeros(len(blocks))

    def run_block(number: int) -> None:
        violations[number] = blocks[number].epoch(problem, order, alpha)

    run_jobs(run_block, range(len(blocks)), threads)
    return float(violations.max(initial=0))


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
    def zeros(
        cls, first: int, columns: int, features: int, size: int, squares: Floats | None
    ) -> "_LabelBlock":
        """A block whose weights are 0."""
        width = next(width for width in _WIDTHS if width >= columns)
        padded = None
        if squares is not None:
            padded = _aligned_zeros(features, width)
            padded[:, :columns] = squares[:, first : first + columns]
        weights, dense = _aligned_zeros(features, width), _aligned_zeros(size, width)
        return cls(first, columns, padded, weights, dense, np.zeros(width, dtype=np.float32))

    def epoch(self, problem: native.SvmProblem, order: NDArray[np.int64], alpha: Floats) -> float:
        """One pass over the texts; returns the largest violation of an optimality condition."""
        return problem.epoch(order, self.first, self.squares, alpha, self.weights, self.dense, self.bias)


def _zero_blocks(columns: int, features: int, size: int, squares: Floats | None) -> list[_LabelBlock]:
    """The blocks of all columns, for sparse and `size` dense features."""
    return [
        _LabelBlock.zeros(first, min(columns - first, MOST_WIDTH), features, size, squares)
        for first in range(0, columns, MOST_WIDTH)
    ]


def _aligned_zeros(rows: int, width: int) -> Floats:
    """Zeros whose first number begins a cache line, `[rows, width]`."""
    numbers = np.zeros(rows * width + _LINE // 4, dtype=np.float32)
    begin = -numbers.ctypes.data % _LINE // 4
    return numbers[begin : begin + rows * width].reshape(rows, width)


def _start_from(blocks: list[_LabelBlock], problem: LinearProblem, alpha: Floats) -> None:
    """Set the weights to those of the dual variables of a similar problem, after scaling the variables of
    each column to the minimum of this problem's dual along their direction.

    Args:
        blocks: The blocks of all columns.
        problem: The problem, with the diagonal of the dual in place of the costs.
        alpha: The dual variables, `[texts, columns]`; scaled in place.
    """
    rows, signs, slack = problem.rows, problem.signs, problem.costs
    steps, transposed = signs * alpha, rows.sparse.T
    desired = np.float32(1) if problem.targets is None else problem.targets
    if problem.offsets is not None:
        desired = desired - signs * problem.offsets
    slope = (alpha * desired).sum(axis=0, dtype=np.float64)
    curvature = (np.where(alpha == 0, 0, slack) * alpha**2).sum(axis=0, dtype=np.float64)
    for block in blocks:
        place = slice(block.first, block.first + block.columns)
        dense, bias = rows.dense.T @ steps[:, place], steps[:, place].sum(axis=0)
        weights = transposed @ np.ascontiguousarray(steps[:, place])
        scaled = weights if block.squares is None else weights * block.squares[:, : block.columns]
        bend = curvature[place] + bias**2
        for first, second in ((scaled, weights), (dense, dense)):
            bend += (first * second).sum(axis=0, dtype=np.float64)
        factors = np.divide(slope[place], bend, out=np.zeros(len(bend)), where=bend > 0)
        factors = factors.clip(min=0).astype(np.float32)
        alpha[:, place] *= factors
        block.weights[:, : block.columns] = scaled * factors
        block.dense[:, : block.columns] = dense * factors
        block.bias[: block.columns] = bias * factors


def _join_blocks(blocks: list[_LabelBlock], features: int) -> LinearWeights:
    """The weights of all blocks, side by side."""
    columns = blocks[-1].first + blocks[-1].columns
    joined = LinearWeights(
        np.empty((features, columns), dtype=np.float32),
        np.empty((len(blocks[0].dense), columns), dtype=np.float32),
        np.empty(columns, dtype=np.float32),
    )
    for block in blocks:
        place = slice(block.first, block.first + block.columns)
        joined.weights[:, place] = block.weights[:, : block.columns]
        joined.dense[:, place] = block.dense[:, : block.columns]
        joined.bias[place] = block.bias[: block.columns]
    return joined
