"""What to label next: items that a model is in doubt of, and that stand for others of which it is, too."""

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST = 4_000
"""Items that are compared with each other: those with the most doubt."""


def doubt_of_tags(sentences: Sequence[NDArray[np.floating]]) -> NDArray[np.float64]:
    """The doubt of the tags of sentences, from 0 to 1, `[sentences]`, by the probability of the tag of each
    word, `[words]`.

    It is least confidence (1 less the probability of all tags; Culotta and McCallum, AAAI 2005), the
    logarithm divided by the root of the number of words: undivided it likes long sentences, divided by the
    number itself (MNLP; Shen et al., ICLR 2018) short ones.
    """
    logs = (np.log(np.clip(own, 1e-30, 1)) for own in sentences)
    return np.array([1 - np.exp(own.sum() / np.sqrt(max(len(own), 1))) for own in logs])


def most_useful(doubt: NDArray[np.floating], vectors: Any, count: int) -> list[int]:
    """Items to label, the most useful first.

    One after the other is taken that makes the doubt that is left least: an item takes from the doubt of
    every other as much as it is like it (greedy facility location, weighted by doubt; Wei, Iyer and Bilmes,
    ICML 2015). Doubt alone takes the same question many times over, distance what is merely odd.

    Args:
        doubt: From 0 to 1, `[items]`.
        vectors: Of length 1 (or 0), dense or sparse, `[items, size]`.
        count: How many to take.
    """
    order = np.argsort(-doubt, kind="stable")
    some = order[: max(MOST, 1)]
    own, weights = vectors[some], doubt[some].astype(np.float32)
    likeness = own @ own.T
    likeness = likeness.toarray() if hasattr(likeness, "toarray") else likeness
    likeness = np.clip(likeness.astype(np.float32, copy=False), 0.0, 1.0)
    np.fill_diagonal(likeness, 1.0)
    nearest = np.zeros(len(some), dtype=np.float32)
    # What an item brings only falls: who is on top again after it was counted anew is the best.
    heap = [(-float(bring), place) for place, bring in enumerate(weights @ likeness)]
    heapify(heap)
    found: list[int] = []
    while heap and len(found) < count:
        _, place = heappop(heap)
        bring = float(weights @ np.maximum(likeness[place] - nearest, 0.0))
        if heap and -bring > heap[0][0]:
            heappush(heap, (-bring, place))
            continue
        found.append(place)
        np.maximum(nearest, likeness[place], out=nearest)
    return [*some[found].tolist(), *order[len(some) :].tolist()][:count]
