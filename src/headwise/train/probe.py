"""The probe: what the vectors of a base say of answers by themselves, before anything else is trained.

Logistic regression on the vectors of the texts (of numbers: ridge regression), its strength chosen by
cross-validation of training texts, on which large directions of the vectors count for more
(`headwise.linear.leading`). A network that begins there, with the rest of it silent, keeps what the
base knows (linear probing, then fine-tuning; Kumar, Raghunathan, Jones, Ma, Liang; ICLR 2022).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_softmax

from headwise.linear.leading import leading
from headwise.linear.text_fit import MOST_CELLS
from headwise.threads import one_blas_thread

Floats = NDArray[np.float32]

STRENGTHS = (30.0, 10.0, 3.0, 1.0, 0.3, 0.1)
"""What the losses of all texts together count against the weights, for vectors of length 1; tried from
large to small until the held-out loss rises."""
RIDGES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
"""What the weights squared count against errors squared, for vectors of length 1."""
FOLDS = 5
"""In which strengths are compared."""
_LENGTH = 4.0  # of the vectors, which makes the strengths those above
_MOST_CROSSED = 5_000
"""Texts up to which each fold is held out once; of more, or of many labels, only the first."""


def fit_probe(
    vectors: np.ndarray,
    targets: np.ndarray,
    classes: int,
    *,
    weights: np.ndarray | None = None,
    offsets: np.ndarray | None = None,
    sets: bool = False,
    same: NDArray[np.int64] | None = None,
    always: int = 0,
    center: bool = False,
    seed: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Logistic regression from the vectors of texts to their labels.

    Args:
        vectors: `[texts, size]`, of length 1.
        targets: Label numbers, `[texts]`, or probabilities of labels, `[texts, classes]`.
        classes: Number of labels.
        weights: How much each text counts, `[texts]`.
        offsets: Logits that the regression's are added to, `[texts, classes]`.
        sets: A text may have any number of labels: a regression for each.
        same: For each text the number of the first that stays with it (`first_alike`).
        always: How many of the texts, the last, are in no fold.
        center: Their mean is taken off first: vectors with much in common are fitted sooner.
        seed: Of the folds.

    Returns:
        Weights `[classes, size]` and biases `[classes]`.
    """
    mean = np.zeros(vectors.shape[1], dtype=np.float32)
    if center:
        mean = np.average(vectors, axis=0, weights=weights).astype(np.float32)
    vectors = vectors - mean if center else vectors
    turn: Floats = leading(vectors if weights is None else vectors[weights > 0]) * np.float32(_LENGTH)
    rows = np.asarray(vectors @ turn, dtype=np.float32)
    wanted = (
        np.asarray(targets, dtype=np.float32)
        if targets.ndim == 2
        else np.eye(classes, dtype=np.float32)[targets]
    )
    counts = np.ones(len(rows), dtype=np.float32) if weights is None else weights.astype(np.float32)
    before = np.zeros((len(rows), classes), dtype=np.float32) if offsets is None else offsets
    losses = _losses_of_sets if sets else _losses
    problem = _Problem(rows, wanted, counts, before, losses)
    best, start = STRENGTHS[0], None
    texts = len(rows) - always
    if texts > FOLDS:
        fold = np.random.default_rng(seed).permutation(texts) % FOLDS
        if same is not None:
            fold = fold[same[:texts]]
        fold = np.append(fold, np.full(always, -1))
        few = texts <= _MOST_CROSSED and wanted.size <= MOST_CELLS
        held = [fold == number for number in range(FOLDS if few else 1)]
        found: list[Floats | None] = [None] * len(held)
        least = float("inf")
        for strength in STRENGTHS:
            loss = 0.0
            for number, out in enumerate(held):
                own = found[number] = problem.take(~out).solve(strength, found[number])
                loss += problem.take(out).loss(own)
            if loss >= least:
                break
            best, least, start = strength, loss, found[0]
    solved = problem.solve(best, start)
    found_weights = (turn @ solved[:-1]).T
    return found_weights, solved[-1] - found_weights @ mean


def fit_number_probe(
    vectors: np.ndarray,
    targets: np.ndarray,
    weights: np.ndarray | None = None,
    same: NDArray[np.int64] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Ridge regression from the vectors of texts `[texts, size]` to numbers `[texts]`, each of which counts
    as `weights` say, `[texts]`. Each text is left out once; where some are the `same` (`first_alike`), they
    are left out together, fold by fold.

    Returns:
        Weights `[1, size]` and bias `[1]`.
    """
    from sklearn.linear_model import RidgeCV  # slow to load, and predictions do without
    from sklearn.model_selection import GroupKFold

    same = np.arange(len(targets)) if same is None else same
    if weights is not None:
        kept = weights > 0
        vectors, targets, weights, same = vectors[kept], targets[kept], weights[kept], same[kept]
    turn = leading(vectors).astype(np.float64)
    groups, folds = len(np.unique(same)), None
    if FOLDS <= groups < len(same):
        folds = list(GroupKFold(FOLDS).split(vectors, groups=same))
    found = RidgeCV(alphas=RIDGES, cv=folds).fit(
        vectors @ turn, targets.astype(np.float64), sample_weight=weights
    )
    solved, bias = turn @ np.asarray(found.coef_), np.asarray([found.intercept_])
    return solved[None].astype(np.float32), bias.astype(np.float32)


def _losses(logits: Floats, wanted: Floats) -> tuple[Floats, Floats]:
    """Of each text, and their gradients by the logits."""
    said = log_softmax(logits, axis=1)
    return -(said * wanted).sum(axis=1), np.exp(said) * wanted.sum(axis=1, keepdims=True) - wanted


def _losses_of_sets(logits: Floats, wanted: Floats) -> tuple[Floats, Floats]:
    return (np.logaddexp(0, logits) - logits * wanted).sum(axis=1), expit(logits) - wanted


@dataclass(frozen=True)
class _Problem:
    """A regression from rows `[texts, size]`, with the biases in the last row of its weights."""

    rows: Floats
    wanted: Floats
    counts: Floats
    before: Floats
    losses: Callable[[Floats, Floats], tuple[Floats, Floats]]

    def take(self, texts: NDArray[np.bool_]) -> "_Problem":
        return _Problem(
            self.rows[texts], self.wanted[texts], self.counts[texts], self.before[texts], self.losses
        )

    def _of(self, weights: Floats) -> tuple[Floats, Floats]:
        return self.losses(self.rows @ weights[:-1] + weights[-1] + self.before, self.wanted)

    def loss(self, weights: Floats) -> float:
        """Of all texts together."""
        return float(self._of(weights)[0] @ self.counts)

    def solve(self, strength: float, start: Floats | None) -> Floats:
        """Minimise `sum of losses + |weights|^2 / (2 strength)`, by L-BFGS."""
        from scipy.optimize import minimize  # slow to load, and predictions do without

        shape = (self.rows.shape[1] + 1, self.wanted.shape[1])

        def cost(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            weights = flat.reshape(shape).astype(np.float32)
            losses, slopes = self._of(weights)
            slopes = slopes * self.counts[:, None]
            gradient = np.vstack([self.rows.T @ slopes, slopes.sum(axis=0)])
            gradient[:-1] += weights[:-1] / strength
            squares = float((weights[:-1].astype(np.float64) ** 2).sum())
            whole = float(losses.astype(np.float64) @ self.counts) + squares / (2 * strength)
            return whole / len(losses), gradient.ravel().astype(np.float64) / len(losses)

        first = np.zeros(shape) if start is None else start
        options = {"maxiter": 60, "ftol": 1e-9, "gtol": 1e-4}
        begun = first.ravel().astype(np.float64)
        with one_blas_thread():  # several cores take longer over small matrices
            found = minimize(cost, begun, jac=True, method="L-BFGS-B", options=options)
        return found.x.reshape(shape).astype(np.float32)
