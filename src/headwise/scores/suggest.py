"""Active learning: selection of uncertain items that represent other uncertain items."""

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST = 4_000
"""The number of candidates: the items with the largest uncertainty."""


def doubt_of_tags(sentences: Sequence[NDArray[np.floating]]) -> NDArray[np.float64]:
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


def most_useful(doubt: NDArray[np.floating], vectors: Any, count: int) -> list[int]:
    """The indices of the items most worth labelling, best first.

    Greedy facility location, weighted by uncertainty (Wei, Iyer and Bilmes, ICML 2015): each step selects
    the item that most reduces the remaining uncertainty, where an item covers another in proportion to
    their cosine similarity. Uncertainty alone selects near-duplicates; distance alone selects outliers.

    Args:
        doubt: The uncertainty of each item, from 0 to 1, `[items]`.
        vectors: Vectors of length 1 (or 0), dense or sparse, `[items, size]`.
        count: The number of items to select.
    """
    order = np.argsort(-doubt, kind="stable")
    candidates = order[: max(MOST, 1)]
    candidate_vectors, weights = vectors[candidates], doubt[candidates].astype(np.float32)
    likeness = candidate_vectors @ candidate_vectors.T
    likeness = likeness.toarray() if hasattr(likeness, "toarray") else likeness
    likeness = np.clip(likeness.astype(np.float32, copy=False), 0.0, 1.0)
    np.fill_diagonal(likeness, 1.0)
    nearest = np.zeros(len(candidates), dtype=np.float32)
    # Gains only decrease (submodularity): an item that stays on top after its gain is updated is the best.
    heap = [(-float(bring), place) for place, bring in enumerate(weights @ likeness)]
    heapify(heap)
    chosen: list[int] = []
    while heap and len(chosen) < count:
        _, place = heappop(heap)
        bring = float(weights @ np.maximum(likeness[place] - nearest, 0.0))
        if heap and -bring > heap[0][0]:
            heappush(heap, (-bring, place))
            continue
        chosen.append(place)
        np.maximum(nearest, likeness[place], out=nearest)
    return [*candidates[chosen].tolist(), *order[len(candidates) :].tolist()][:count]
