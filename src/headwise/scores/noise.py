"""Confident learning: which labels of a file are likely to be wrong (Northcutt, Jiang, Chuang: Confident
learning: estimating uncertainty in dataset labels; JAIR 2021)."""

import numpy as np
from numpy.typing import NDArray


def suspects(
    probabilities: NDArray[np.floating], targets: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The items whose labels are likely to be wrong, the likeliest first, and the margin of each.

    An item counts as one of the label k where its probability is at least what texts labelled k have in
    the mean (of several such labels, the most probable). It is a suspect where that is another label than
    its own, and its own is not the most probable of all; the margin, the probability of its own label less
    that of the best other, ranks.

    Args:
        probabilities: By a model that was trained without the item, `[items, labels]`.
        targets: The given label numbers, `[items]`.
    """
    labels = probabilities.shape[1]
    counts = np.bincount(targets, minlength=labels)
    given = probabilities[np.arange(len(targets)), targets]
    least = np.bincount(targets, given, minlength=labels) / np.maximum(counts, 1)
    least[counts == 0] = np.inf
    confident = np.where(probabilities >= least, probabilities, -1.0)
    counted = confident.argmax(axis=1)
    wrong = np.flatnonzero((confident.max(axis=1) >= 0) & (counted != targets))
    others = probabilities.astype(np.float64)
    others[np.arange(len(targets)), targets] = -1.0
    margins = given[wrong] - others[wrong].max(axis=1)
    order = np.argsort(margins, kind="stable")[: (margins <= 0).sum()]
    return wrong[order], margins[order]


def tells_labels(probabilities: NDArray[np.floating], targets: NDArray[np.int64]) -> bool:
    """Whether such probabilities tell labels better than how common each is: whether the mean of what they
    gain in log likelihood is more than two of its standard errors.

    Args:
        probabilities: By models that were trained without the item, `[items, labels]`.
        targets: The given label numbers, `[items]`.
    """
    shares = np.bincount(targets, minlength=probabilities.shape[1]) / len(targets)
    given = probabilities[np.arange(len(targets)), targets].astype(np.float64)
    gains = np.log(np.maximum(given, 1e-12)) - np.log(shares[targets])
    return bool(gains.mean() > 2 * gains.std() / len(targets) ** 0.5)
