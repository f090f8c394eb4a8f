"""Which labels are likely to be wrong, and which items are most worth labelling.

Label errors are found by confident learning (Northcutt, Jiang, Chuang: Confident learning: estimating
uncertainty in dataset labels; JAIR 2021). Active learning selects uncertain items that represent other
uncertain items.
"""

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MIN_ITEMS, _RARE = 50, 0.2
"""The fewest items of two labels for a separability test, and the smallest relative frequency of a
label."""


def find_label_issues(
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


def beats_label_frequencies(
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


def separable(
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
        return len(gained) < _MIN_ITEMS or bool(gained.mean() > gained.std() / len(gained) ** 0.5)

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


MAX_CANDIDATES = 4_000
"""The number of candidates: the items with the largest uncertainty."""


def tag_uncertainty(sentences: Sequence[NDArray[np.floating]]) -> NDArray[np.float64]:
    """The uncertainty of a tagger about sentences, from 0 to 1, `[sentences]`, from the probability of the
    predicted tag of each word, `[words]` for each sentence.

    It is least confidence (1 minus the probability of the tag sequence; Culotta and McCallum, AAAI 2005)
    with the log-probability divided by the square root of the number of words. Without the division it
    favours long sentences; division by the number itself (MNLP; Shen et al., ICLR 2018) favours short ones.
    """
    logs = (np.log(np.clip(probabilities, 1e-30, 1)) for probabilities in sentences)
    return np.array(
        [1 - np.exp(probabilities.sum() / np.sqrt(max(len(probabilities), 1))) for probabilities in logs]
    )


def select_items(uncertainty: NDArray[np.floating], vectors: Any, count: int) -> list[int]:
    """The indices of the items most worth labelling, best first.

    Greedy facility location, weighted by uncertainty (Wei, Iyer and Bilmes, ICML 2015): each step selects
    the item that most reduces the remaining uncertainty, where an item covers another in proportion to
    their cosine similarity. Uncertainty alone selects near-duplicates; distance alone selects outliers.

    Args:
        uncertainty: The uncertainty of each item, from 0 to 1, `[items]`.
        vectors: Vectors of length 1 (or 0), dense or sparse, `[items, size]`.
        count: The number of items to select.
    """
    order = np.argsort(-uncertainty, kind="stable")
    candidates = order[: max(MAX_CANDIDATES, 1)]
    candidate_vectors, weights = vectors[candidates], uncertainty[candidates].astype(np.float32)
    similarity = candidate_vectors @ candidate_vectors.T
    similarity = similarity.toarray() if hasattr(similarity, "toarray") else similarity
    similarity = np.clip(similarity.astype(np.float32, copy=False), 0.0, 1.0)
    np.fill_diagonal(similarity, 1.0)
    nearest = np.zeros(len(candidates), dtype=np.float32)
    # Gains only decrease (submodularity): an item that stays on top after its gain is updated is the best.
    heap = [(-float(bring), place) for place, bring in enumerate(weights @ similarity)]
    heapify(heap)
    chosen: list[int] = []
    while heap and len(chosen) < count:
        _, place = heappop(heap)
        bring = float(weights @ np.maximum(similarity[place] - nearest, 0.0))
        if heap and -bring > heap[0][0]:
            heappush(heap, (-bring, place))
            continue
        chosen.append(place)
        np.maximum(nearest, similarity[place], out=nearest)
    return [*candidates[chosen].tolist(), *order[len(candidates) :].tolist()][:count]
