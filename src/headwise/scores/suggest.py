"""What to label next: items that a model is in doubt of, and that are unlike each other."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def most_useful(doubt: NDArray[np.floating], vectors: Any, count: int) -> list[int]:
    """Items to label, the most useful first.

    One after the other is taken that has the most doubt times its distance from the nearest item that was
    taken before (k-center greedy, Sener and Savarese, ICLR 2018, weighted by doubt): the doubt alone takes
    the same question many times over, the distance alone what is merely odd.

    Args:
        doubt: From 0 to 1, `[items]`.
        vectors: Of length 1 (or 0), dense or sparse, `[items, size]`.
        count: How many to take.
    """
    nearest, taken = np.zeros(len(doubt)), np.zeros(len(doubt), dtype=bool)
    found = []
    for _ in range(min(count, len(doubt))):
        worth = np.where(taken, -1.0, doubt * (1 - nearest) + 1e-9 * doubt)
        best = int(worth.argmax())
        found.append(best)
        taken[best] = True
        own = vectors[best]
        likeness = vectors @ (own.T if hasattr(own, "toarray") else own)
        likeness = likeness.toarray()[:, 0] if hasattr(likeness, "toarray") else likeness
        nearest = np.maximum(nearest, np.clip(likeness, 0.0, 1.0))
    return found
