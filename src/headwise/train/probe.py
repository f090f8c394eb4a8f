"""The probe: what the vectors of a base say of answers by themselves, before anything else is trained.

Logistic regression on the vectors of the texts (of numbers: ridge regression), its strength chosen by
cross-validation of training texts. A network that begins there, with the rest of it silent, keeps what the
base knows (linear probing, then fine-tuning; Kumar, Raghunathan, Jones, Ma, Liang; ICLR 2022).
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

STRENGTHS = (30.0, 10.0, 3.0, 1.0, 0.3, 0.1)
"""What the losses of all texts together count against the weights, for vectors of length 1; tried from
large to small until the held-out loss rises."""
RIDGES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
"""What the weights squared count against errors squared, for vectors of length 1."""
_LENGTH = 4.0  # of the vectors, which makes the strengths those above
_FOLDS = 5
_MOST_CROSSED = 5_000
"""Texts up to which each fold is held out once; of more, only the first."""


def fit_probe(
    vectors: np.ndarray,
    targets: np.ndarray,
    classes: int,
    *,
    weights: np.ndarray | None = None,
    offsets: np.ndarray | None = None,
    sets: bool = False,
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
        seed: Of the folds.

    Returns:
        Weights `[classes, size]` and biases `[classes]`.
    """
    losses = _losses_of_sets if sets else _losses
    rows = torch.from_numpy(vectors * np.float32(_LENGTH))
    labels = torch.from_numpy(targets.astype(np.int64 if targets.ndim == 1 else np.float32))
    counts = torch.ones(len(labels)) if weights is None else torch.from_numpy(weights.astype(np.float32))
    before = torch.zeros(len(labels), classes) if offsets is None else torch.from_numpy(offsets)
    fold = torch.from_numpy(np.random.default_rng(seed).permutation(len(labels)) % _FOLDS)
    held = range(_FOLDS if len(labels) <= _MOST_CROSSED else 1)
    best, least = STRENGTHS[0], float("inf")
    for strength in STRENGTHS if len(labels) > _FOLDS else STRENGTHS[:1]:
        loss = 0.0
        for number in held:
            out = fold == number
            found, bias = _regress(losses, rows[~out], labels[~out], counts[~out], before[~out], strength)
            logits = rows[out] @ found + bias + before[out]
            loss += float((losses(logits, labels[out]) * counts[out]).sum())
        if loss >= least:
            break
        best, least = strength, loss
    found, bias = _regress(losses, rows, labels, counts, before, best)
    return (found.T * _LENGTH).numpy(), bias.numpy()


def fit_number_probe(vectors: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ridge regression from the vectors of texts `[texts, size]` to numbers `[texts]`.

    Returns:
        Weights `[1, size]` and bias `[1]`.
    """
    from sklearn.linear_model import RidgeCV  # slow to load, and predictions do without

    found = RidgeCV(alphas=RIDGES).fit(vectors.astype(np.float64), targets.astype(np.float64))
    weights, bias = np.asarray(found.coef_), np.asarray([found.intercept_])
    return weights[None].astype(np.float32), bias.astype(np.float32)


def _losses(logits: Tensor, labels: Tensor) -> Tensor:
    return cross_entropy(logits, labels, reduction="none")


def _losses_of_sets(logits: Tensor, labels: Tensor) -> Tensor:
    return binary_cross_entropy_with_logits(logits, labels, reduction="none").sum(dim=1)


def _regress(
    losses: Callable[[Tensor, Tensor], Tensor],
    rows: Tensor,
    labels: Tensor,
    counts: Tensor,
    before: Tensor,
    strength: float,
) -> tuple[Tensor, Tensor]:
    """Minimise `sum of losses + |weights|^2 / (2 strength)` by L-BFGS."""
    weights = torch.zeros(rows.shape[1], before.shape[1], requires_grad=True)
    bias = torch.zeros(before.shape[1], requires_grad=True)
    optimizer = torch.optim.LBFGS(
        [weights, bias],
        max_iter=60,
        history_size=10,
        line_search_fn="strong_wolfe",
        tolerance_grad=1e-4,
        tolerance_change=1e-6,
    )

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        each = losses(rows @ weights + bias + before, labels)
        loss = (each * counts).mean() + (weights**2).sum() / (2 * strength * len(labels))
        loss.backward()
        return loss

    with torch.enable_grad():
        optimizer.step(closure)  # type: ignore[arg-type]
    return weights.detach(), bias.detach()
