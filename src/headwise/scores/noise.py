"""Confident learning: which labels of a file are likely to be wrong (Northcutt, Jiang, Chuang: Confident
learning: estimating uncertainty in dataset labels; JAIR 2021)."""

import numpy as np
from numpy.typing import NDArray

_FEW, _RARE = 50, 0.2
"""Items of two labels of which is not known whether they are told apart, and a share of a rare one."""


def suspects(
    probabilities: NDArray[np.floating],
    targets: NDArray[np.int64],
    counted: NDArray[np.bool_] | None = None,
    enough: float = np.inf,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The items whose labels are likely to be wrong, the likeliest first, and the margin of each.

    An item counts as one of the label k where its probability is at least what texts labelled k have in
    the mean (of several such labels, the most probable). It is a suspect where that is another label than
    its own, and its own is not the most probable of all; the margin, the probability of its own label less
    that of the best other, ranks.

    Args:
        probabilities: By a model that was trained without the item, `[items, labels]`.
        targets: The given label numbers, `[items]`.
        counted: Of which items the mean is, `[items]`; of all by default.
        enough: A probability that is enough even where the mean is higher.
    """
    labels = probabilities.shape[1]
    given, some = (
        probabilities[np.arange(len(targets)), targets],
        slice(None) if counted is None else counted,
    )
    counts = np.bincount(targets[some], minlength=labels)
    least = np.bincount(targets[some], given[some], minlength=labels) / np.maximum(counts, 1)
    least = np.minimum(least, enough)
    least[counts == 0] = np.inf
    confident = np.where(probabilities >= least, probabilities, -1.0)
    counted = confident.argmax(axis=1)
    wrong = np.flatnonzero((confident.max(axis=1) >= 0) & (counted != targets))
    others = probabilities.astype(np.float64)
    others[np.arange(len(targets)), targets] = -1.0
    margins = given[wrong] - others[wrong].max(axis=1)
    order = np.argsort(margins, kind="stable")[: (margins <= 0).sum()]
    return wrong[order], margins[order]


def tells_labels(
    probabilities: NDArray[np.floating], targets: NDArray[np.int64], *, calibrated: bool = True
) -> bool:
    """Whether such probabilities tell labels better than how common each is: whether the mean of what they
    gain is more than two of its standard errors.

    Args:
        probabilities: By models that were trained without the item, `[items, labels]`.
        targets: The given label numbers, `[items]`.
        calibrated: Gains are in log likelihood; else in squared error, as a model that is too sure loses
            more by the labels that are wrong than it gains by all others.
    """
    shares = np.bincount(targets, minlength=probabilities.shape[1]) / len(targets)
    given = probabilities[np.arange(len(targets)), targets].astype(np.float64)
    if calibrated:
        gains = np.log(np.maximum(given, 1e-12)) - np.log(shares[targets])
    else:
        gains = (1 - shares[targets]) ** 2 - (1 - given) ** 2
    return bool(gains.mean() > 2 * gains.std() / len(targets) ** 0.5)


def told_apart(
    probabilities: NDArray[np.floating],
    targets: NDArray[np.int64],
    items: NDArray[np.int64],
    others: NDArray[np.int64],
    counted: NDArray[np.bool_] | None = None,
) -> NDArray[np.bool_]:
    """Whether such probabilities may tell the given label of each of some items from another, `[items]`:
    where people drew lots between two labels none of them is wrong, however well a third is known.

    They do not where the squared errors of what they say between the two, of all that have either label,
    are not less, by their standard error, than those of how common each is. (Their logarithms would be:
    labels that are wrong, of which there are some here, cost a model that is sure more than all others
    bring.) Of few items that is not known, and where the given label is rare beside the other it is
    unlikely whatever the model knows.

    Args:
        probabilities: By models that were trained without the item, `[all, labels]`.
        targets: The given label numbers, `[all]`.
        items: The numbers of the items in question.
        others: The number of the other label of each of these.
        counted: Which of all say whether labels are told apart, `[all]`; all by default.
    """
    there = np.ones(len(targets), dtype=np.bool_) if counted is None else counted
    of_label = {label: np.flatnonzero(there & (targets == label)) for label in np.unique(targets).tolist()}
    none = np.zeros(0, dtype=np.int64)
    known: dict[tuple[int, int], bool] = {}

    def gains(label: int, other: int) -> NDArray[np.float64]:
        """Of the items of a label."""
        rows = of_label.get(label, none)
        both = probabilities[rows][:, [label, other]].astype(np.float64).clip(1e-12)
        share = len(rows) / (len(rows) + len(of_label.get(other, none)))
        return (1 - share) ** 2 - (1 - both[:, 0] / both.sum(axis=1)) ** 2

    def tells(one: int, other: int) -> bool:
        found = np.concatenate([gains(one, other), gains(other, one)])
        return len(found) < _FEW or bool(found.mean() > found.std() / len(found) ** 0.5)

    told = np.ones(len(items), dtype=np.bool_)
    for place, (own, other) in enumerate(zip(targets[items].tolist(), others.tolist(), strict=True)):
        count, against = (len(of_label.get(label, none)) for label in (own, other))
        pair = min(own, other), max(own, other)
        if count >= _RARE * (count + against):
            if pair not in known:
                known[pair] = tells(*pair)
            told[place] = known[pair]
    return told
