"""When two texts count as the same."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

MANY = 10
"""Different first texts for each fold from which on pairs with the same first text stay together."""


def normal_text(text: str) -> str:
    """A text for comparison: case folded, every run of white space one blank, none at the ends."""
    return " ".join(text.casefold().split())


def first_equal(texts: Sequence[Any], folds: int) -> NDArray[np.int64]:
    """For each text the number of the first one that is held out with it, `[texts]`: its own where there is
    no other. A model that has seen a text knows more about its double than about new texts.

    Args:
        texts: Texts, of which equal ones stay together; or pairs of texts, which do so too if only their
            first texts are equal, where there are many different ones (one premise often has several
            hypotheses; but a few questions may have all the answers).
        folds: How many parts are held out.
    """
    keys: Sequence[str] = texts
    if len(texts) and not isinstance(texts[0], str):
        keys = [first for first, _ in texts]
        if len(set(keys)) < MANY * folds:
            keys = [f"{first}\n{second}" for first, second in texts]
    first: dict[str, int] = {}
    numbers = [first.setdefault(normal_text(key), place) for place, key in enumerate(keys)]
    return np.array(numbers, dtype=np.int64)
