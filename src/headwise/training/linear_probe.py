"""Linear probe: predicts the targets from the static-embedding vectors of texts, before the network is
trained.

Logistic regression (ridge regression for numbers) on the vectors of the texts, rescaled by their covariance
root (`headwise.linear.dense_features`), with the penalty chosen by cross-validation. A network that
starts there, with zero output from its other layers, keeps the knowledge in the vectors (linear probing,
then fine-tuning; Kumar, Raghunathan, Jones, Ma, Liang; ICLR 2022).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from headwise.core import native
from headwise.core.activations import expit
from headwise.core.minimization import minimize_smooth
from headwise.core.threads import one_blas_thread
from headwise.linear.dense_features import covariance_root
from headwise.linear.linear_fit import MOST_CELLS
from headwise.metrics.classification_scores import label_probabilities

Floats = NDArray[np.float32]

STRENGTHS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
"""Candidate values of C (weight of the total loss relative to the L2 penalty) for vectors of length 1."""
FIRST = 2
"""Index of the candidate that is tried first; from there on larger ones, and if the first of them is not
better, smaller ones, until the held-out loss rises."""
RIDGES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
"""Candidate ridge penalties for vectors of length 1."""
FOLDS = 5
"""Number of folds that penalties are compared on."""
_LENGTH = 4.0  # length that the vectors are scaled to, which the candidates above assume
_MOST_CROSSED = 5_000
"""Number of texts up to which each fold is held out once; with more texts or many labels, only the first
is."""


def fit_linear_probe(
    vectors: np.ndarray,
    targets: np.ndarray,
    classes: int,
    *,
    weights: np.ndarray | None = None,
    offsets: np.ndarray | None = None,
    sets: bool = False,
    same: NDArray[np.int64] | None = None,
    label_name_count: int = 0,
    center: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Fit a logistic regression from the vectors of texts to their labels.

    Args:
        vectors: `[texts, size]`, of length 1.
        targets: Label indices, `[texts]`, or label probabilities, `[texts, classes]`; or label sets.
        classes: Number of labels.
        weights: Weights of the texts, `[texts]`.
        offsets: Logits that are added to those of the regression, `[texts, classes]`.
        sets: Whether the targets are label sets, `[texts, classes]` bool: one binary regression per label.
        same: For each text the index of its first near-duplicate, which stays in the same fold
            (`first_in_group`).
        label_name_count: Number of texts, at the end, that are in no fold.
        center: Whether to subtract the mean first, which speeds up convergence for vectors with much in
            common.

    Returns:
        Weights `[classes, size]` and biases `[classes]`.
    """
    mean = np.zeros(vectors.shape[1], dtype=np.float32)
    if center:
        mean = np.average(vectors, axis=0, weights=weights).astype(np.float32)
    vectors = vectors - mean if center else vectors
    turn: Floats = covariance_root(vectors if weights is None else vectors[weights > 0]) * np.float32(
        _LENGTH
    )
    rows = np.hstack([vectors @ turn, np.ones((len(vectors), 1))]).astype(np.float32)  # 1 for the bias
    target_rows = targets if sets else label_probabilities(targets, classes, np.float32)
    target_rows = np.ascontiguousarray(target_rows, dtype=np.float32)
    counts = np.ones(len(rows), dtype=np.float32) if weights is None else weights.astype(np.float32)
    problem = _Problem(rows, target_rows, counts, offsets, _sets_loss if sets else native.softmax_loss)
    best, start = STRENGTHS[-1], None
    texts = len(rows) - label_name_count
    if texts > FOLDS:
        fold = np.random.default_rng(0).permutation(texts) % FOLDS
        if same is not None:
            fold = fold[same[:texts]]
        fold = np.append(fold, np.full(label_name_count, -1))
        few = texts <= _MOST_CROSSED and target_rows.size <= MOST_CELLS
        held = [fold == number for number in range(FOLDS if few else 1)]
        pairs = [(problem.take(~out), problem.take(out)) for out in held]
        place, start = _search(pairs)
        best = STRENGTHS[place]
    solved = problem.solve(best, start)
    probe_weights = (turn @ solved[:-1]).T
    return probe_weights, solved[-1] - probe_weights @ mean


def _search(pairs: "list[tuple[_Problem, _Problem]]") -> tuple[int, Floats]:
    """The index of the best of `STRENGTHS`, and the solution of the first fold there.

    Args:
        pairs: The problems of the other texts and of the held-out texts, for each fold.
    """
    starts: list[Floats | None] = [None] * len(pairs)

    def held_out(place: int) -> tuple[float, Floats]:
        solutions = [
            training.solve(STRENGTHS[place], start)
            for (training, _), start in zip(pairs, starts, strict=True)
        ]
        starts[:] = solutions
        losses = [held.loss(weights)[0] for (_, held), weights in zip(pairs, solutions, strict=True)]
        return sum(losses, 0.0), solutions[0]

    place, (least, start) = FIRST, held_out(FIRST)
    for step in (1, -1):
        begun = place
        while 0 <= place + step < len(STRENGTHS):
            loss, weights = held_out(place + step)
            if loss >= least:
                break
            place, least, start = place + step, loss, weights
        if place != begun:
            break
    return place, start


def fit_linear_number_probe(
    vectors: np.ndarray,
    targets: np.ndarray,
    weights: np.ndarray | None = None,
    same: NDArray[np.int64] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Fit a ridge regression from the vectors of texts, `[texts, size]`, to numbers, `[texts]`, with text
    weights, `[texts]`. The penalty is chosen by leave-one-out; with near-duplicates (`same`, see
    `first_in_group`), by folds that keep them together.

    Returns:
        Weights `[1, size]` and bias `[1]`.
    """
    from sklearn.linear_model import RidgeCV  # slow to load, and predictions do without
    from sklearn.model_selection import GroupKFold

    same = np.arange(len(targets)) if same is None else same
    if weights is not None:
        counting = weights > 0
        vectors, targets, weights, same = (
            vectors[counting],
            targets[counting],
            weights[counting],
            same[counting],
        )
    turn = covariance_root(vectors).astype(np.float64)
    groups, folds = len(np.unique(same)), None
    if FOLDS <= groups < len(same):
        folds = list(GroupKFold(FOLDS).split(vectors, groups=same))
    ridge = RidgeCV(alphas=RIDGES, cv=folds).fit(
        vectors @ turn, targets.astype(np.float64), sample_weight=weights
    )
    solved, bias = turn @ np.asarray(ridge.coef_), np.asarray([ridge.intercept_])
    return solved[None].astype(np.float32), bias.astype(np.float32)


def _sets_loss(logits: Floats, targets: Floats, counts: Floats) -> float:
    """The total weighted loss of label sets; the logits become its gradient (as in `softmax_loss`)."""
    losses = (np.logaddexp(0, logits) - logits * targets).sum(axis=1)
    logits[:] = (expit(logits) - targets) * counts[:, None]
    return float(losses.astype(np.float64) @ counts)


@dataclass(frozen=True)
class _Problem:
    """A regression from rows `[texts, size + 1]`, whose last number is 1: the last row of the weights
    `[size + 1, classes]` has the biases."""

    rows: Floats
    targets: Floats
    counts: Floats
    offsets: Floats | None
    total_loss: Callable[[Floats, Floats, Floats], float]

    def take(self, texts: NDArray[np.bool_]) -> "_Problem":
        offsets = None if self.offsets is None else self.offsets[texts]
        subset = self.rows[texts], self.targets[texts], self.counts[texts], offsets
        return _Problem(*subset, self.total_loss)

    def loss(self, weights: Floats) -> tuple[float, Floats]:
        """The total weighted loss, and its gradient with respect to the logits."""
        logits = self.rows @ weights
        if self.offsets is not None:
            logits += self.offsets
        return self.total_loss(logits, self.targets, self.counts), logits

    def solve(self, strength: float, start: Floats | None) -> Floats:
        """Minimise `sum of losses + |weights|^2 / (2 strength)`, by L-BFGS."""
        shape = (self.rows.shape[1], self.targets.shape[1])

        def cost(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            weights = flat.reshape(shape).astype(np.float32)
            loss, slopes = self.loss(weights)
            gradient = (self.rows.T @ slopes).astype(np.float64)
            gradient[:-1] += weights[:-1] / strength
            squares = float((weights[:-1].astype(np.float64) ** 2).sum())
            texts = len(self.rows)
            return (loss + squares / (2 * strength)) / texts, gradient.ravel() / texts

        first = np.zeros(shape) if start is None else start
        with one_blas_thread():  # several cores take longer over small matrices
            solution = minimize_smooth(cost, first.ravel().astype(np.float64), iterations=60)
        return solution.reshape(shape).astype(np.float32)


ENCODER_LENGTH = 0.6
"""Mean length of the centred vectors of the encoder, beside vectors of the base of length 1. Where there
are many labels, greater lengths are less accurate."""


@dataclass(frozen=True)
class ProbeInputs:
    """The inputs of a linear probe: with v the vector of a text from the base, and h the hidden layer of
    the head, `[v; scale (M [v; h] - mean)]`; without an encoder of the base `v`.

    Attributes:
        values: The inputs, `[texts, size + outputs of M]`.
        size: Size of v.
        matrix: `scale M`; None without an encoder.
        mean: `scale mean`.
    """

    values: Floats
    size: int
    matrix: Floats | None = None
    mean: Floats | None = None

    @classmethod
    def of(cls, model: Any, items: Sequence[Any]) -> "ProbeInputs":
        """Those of encoded texts, by a model that has not been trained yet."""
        vectors = model.base_vectors(items)
        size = vectors.shape[1]
        if getattr(model, "base_encoder", None) is None:
            return cls(vectors, size)
        matrix = model.base_encoder.outputs
        outputs = model.base_encoder.sentence_vectors(vectors, model.head_states(items))
        mean = outputs.mean(axis=0)
        length = float(np.linalg.norm(outputs - mean, axis=1).mean())
        scale = np.float32(ENCODER_LENGTH / max(length, 1e-12))
        return cls(np.hstack([vectors, (outputs - mean) * scale]), size, matrix * scale, mean * scale)

    @torch.no_grad()
    def add_to(self, model: Any, weights: NDArray[np.floating], bias: NDArray[np.floating]) -> None:
        """Add a probe on these inputs, `[outputs, inputs]` and `[outputs]`, to the probe of the model, and
        to the last layer of its head."""
        of_base = weights[:, : self.size]
        if self.matrix is not None and self.mean is not None:
            of_encoder = weights[:, self.size :]
            both = of_encoder @ self.matrix
            of_base, bias = of_base + both[:, : self.size], bias - of_encoder @ self.mean
            last = model.head.layers[-1].weight
            last += torch.from_numpy(both[:, self.size :]).to(last)
            model.base_encoder = None  # megabytes that nothing needs any more
        for parameter, values in ((model.probe.weight, of_base), (model.probe.bias, bias)):
            parameter += torch.from_numpy(np.ascontiguousarray(values)).to(parameter)
