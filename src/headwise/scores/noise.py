"""Confident learning: finding label errors (Northcutt, Jiang, Chuang: Confident learning: estimating
uncertainty in dataset labels; JAIR 2021)."""

import numpy as np
from numpy.typing import NDArray

_FEW, _RARE = 50, 0.2
"""The fewest items of two labels for a separability test, and the smallest relative frequency of a
label."""


def suspects(
    probabilities: NDArray[np.floating],
    targets: NDArray[np.int64],
    counted: NDArray[np.bool_] | None = None,
    enough: float = np.inf,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The indices of the items with likely label errors, the most likely first, and their margins.

    An item confidently belongs to label k if its probability of k is at least the mean probability of k
    among the items labelled k (if this holds for several labels, the most probable counts). An item is a
    label issue if it confidently belongs to another label than its given one, and the given label is not
    the most probable. Issues are ranked by the margin: the probability of the given label minus the largest
    other one.

    Args:
        probabilities: Out-of-sample probabilities, `[items, labels]`.
        targets: The given label indices, `[items]`.
        counted: Which items the mean probabilities are computed on, `[items]`; all by default.
        enough: An upper bound of the mean probabilities that are used as thresholds.
    """
    labels = probabilities.shape[1]
    label_probabilities, counted_items = (
        probabilities[np.arange(len(targets)), targets],
        slice(None) if counted is None else counted,
    )
    counts = np.bincount(targets[counted_items], minlength=labels)
    least = np.bincount(
        targets[counted_items], label_probabilities[counted_items], minlength=labels
    ) / np.maximum(counts, 1)
    least = np.minimum(least, enough)
    least[counts == 0] = np.inf
    confident = np.where(probabilities >= least, probabilities, -1.0)
    counted = confident.argmax(axis=1)
    wrong = np.flatnonzero((confident.max(axis=1) >= 0) & (counted != targets))
    other_probabilities = probabilities.astype(np.float64)
    other_probabilities[np.arange(len(targets)), targets] = -1.0
    margins = label_probabilities[wrong] - other_probabilities[wrong].max(axis=1)
    order = np.argsort(margins, kind="stable")[: (margins <= 0).sum()]
    return wrong[order], margins[order]


def tells_labels(
    probabilities: NDArray[np.floating], targets: NDArray[np.int64], *, calibrated: bool = True
) -> bool:
    """Whether probabilities predict labels better than the label frequencies do: whether the mean gain
    exceeds two standard errors.

    Args:
        probabilities: Out-of-sample probabilities, `[items, labels]`.
        targets: The given label indices, `[items]`.
        calibrated: Whether gains are measured in log-likelihood; otherwise in squared error, as the wrong
            labels would dominate the log-likelihood of an overconfident model.
    """
    shares = np.bincount(targets, minlength=probabilities.shape[1]) / len(targets)
    label_probabilities = probabilities[np.arange(len(targets)), targets].astype(np.float64)
    if calibrated:
        gains = np.log(np.maximum(label_probabilities, 1e-12)) - np.log(shares[targets])
    else:
        gains = (1 - shares[targets]) ** 2 - (1 - label_probabilities) ** 2
    return bool(gains.mean() > 2 * gains.std() / len(targets) ** 0.5)


def told_apart(
    probabilities: NDArray[np.floating],
    targets: NDArray[np.int64],
    items: NDArray[np.int64],
    alternatives: NDArray[np.int64],
    counted: NDArray[np.bool_] | None = None,
) -> NDArray[np.bool_]:
    """Whether the probabilities can separate the given label of each item from an alternative one,
    `[items]`. If annotators chose between two labels at random, neither label is an error.

    Two labels are separable if, among the items of either label, the squared error of the probabilities
    (normalised over the two labels) is smaller than that of the label frequencies by more than one standard
    error. The log-likelihood is not used: the wrong labels would dominate it. With few items the labels
    count as separable. If the given label is much rarer than the alternative, it always counts as
    separable, as it is an unlikely label whatever the model knows.

    Args:
        probabilities: Out-of-sample probabilities, `[all, labels]`.
        targets: The given label indices, `[all]`.
        items: The indices of the items in question, `[items]`.
        alternatives: The index of the alternative label of each of these, `[items]`.
        counted: Which items are used to test separability, `[all]`; all by default.
    """
    there = np.ones(len(targets), dtype=np.bool_) if counted is None else counted
    of_label = {label: np.flatnonzero(there & (targets == label)) for label in np.unique(targets).tolist()}
    none = np.zeros(0, dtype=np.int64)
    separable: dict[tuple[int, int], bool] = {}

    def gains(label: int, alternative: int) -> NDArray[np.float64]:
        """The gain in squared error of each item of `label` over the label frequencies."""
        rows = of_label.get(label, none)
        both = probabilities[rows][:, [label, alternative]].astype(np.float64).clip(1e-12)
        share = len(rows) / (len(rows) + len(of_label.get(alternative, none)))
        return (1 - share) ** 2 - (1 - both[:, 0] / both.sum(axis=1)) ** 2

    def tells(label: int, alternative: int) -> bool:
        gained = np.concatenate([gains(label, alternative), gains(alternative, label)])
        return len(gained) < _FEW or bool(gained.mean() > gained.std() / len(gained) ** 0.5)

    apart = np.ones(len(items), dtype=np.bool_)
    for place, (true_label, alternative) in enumerate(
        zip(targets[items].tolist(), alternatives.tolist(), strict=True)
    ):
        count, against = (len(of_label.get(label, none)) for label in (true_label, alternative))
        pair = min(true_label, alternative), max(true_label, alternative)
        if count >= _RARE * (count + against):
            if pair not in separable:
                separable[pair] = tells(*pair)
            apart[place] = separable[pair]
    return apart
