"""Which texts are so much alike that they are held out together.

A model that has seen a text knows more about its double than about new texts: scores on a part that has
doubles of training texts are too good. Doubles are equal texts (case and white space aside), texts with the
same words, and those with half of their runs of three words in common (see `headwise.data.near`), as are
copies in which a word or two are changed. What is like the same text is alike, chain by chain.
"""

from collections.abc import Hashable, Mapping, Sequence
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.data.duplicates import kept_together, least_keys, numbered, places_of, same_items
from headwise.data.near import near_texts, words_of

HALF = 0.5
"""Share of their runs that texts have in common which are held out together."""
_LEAST = 4  # texts that a chain may have, however few there are


def alike_keys(texts: Sequence[str], strata: Sequence[Hashable] | None = None) -> list[str]:
    """For each text one that is the same for all that it is held out with, and does not depend on the order
    of the texts.

    A chain of more different texts than the square root of their number, or than half of those of a
    stratum, is taken apart, to equal texts (texts made of a template, the lines of a log): were it held
    out, none like them would be left to learn from.

    Args:
        texts: The texts.
        strata: What each is one of, such as its label.
    """
    places = same_items(texts)
    different = [*places]
    own = None if strata is None else [strata[numbers[0]] for numbers in places.values()]
    chains = _chains(near_alike(different), len(different))
    apart = np.isin(chains, _long(chains, own))
    least = least_keys(np.where(apart, -1 - np.arange(len(chains)), chains).tolist(), different)
    keys = [""] * len(texts)
    for key, numbers in zip(least, places.values(), strict=True):
        for number in numbers:
            keys[number] = key
    return keys


def first_alike(
    texts: Sequence[Any], parts: int, strata: Sequence[Hashable] | None = None
) -> NDArray[np.int64]:
    """For each text, or pair of texts, the number of the first one that it is held out with, `[texts]`: its
    own where there is no other.

    Args:
        texts: Texts, of which those alike stay together (see `alike_keys`); or pairs, by `kept_together`.
        parts: How many of them are held out, one after the other.
        strata: What each text is one of.
    """
    pairs = len(texts) > 0 and not isinstance(texts[0], str)
    found = np.empty(len(texts), dtype=np.int64)
    for numbers in places_of(kept_together(texts, parts) if pairs else alike_keys(texts, strata)).values():
        found[numbers] = numbers[0]
    return found


def near_alike(texts: Sequence[str]) -> dict[int, list[int]]:
    """Of each of different texts that is like others the numbers of these, see `near_texts`."""
    return near_texts([words_of(text) for text in texts], HALF)


def in_long_chains(near: Mapping[int, Sequence[int]], strata: Sequence[Hashable]) -> int:
    """How many different texts are in chains that `alike_keys` takes apart.

    Args:
        near: What `near_alike` says of them.
        strata: What each is one of.
    """
    chains = _chains(near, len(strata))
    return int(np.isin(chains, _long(chains, strata)).sum())


def _long(chains: NDArray[np.int64], strata: Sequence[Hashable] | None) -> NDArray[np.int64]:
    """The chains that are to be taken apart, of those of different texts."""
    sizes = np.bincount(chains, minlength=1)
    long = [np.flatnonzero(sizes > max(isqrt(len(chains)), _LEAST))]
    if strata:
        own = numbered(strata)
        (chain, stratum), times = np.unique(np.stack([chains, own]), axis=1, return_counts=True)
        long.append(chain[(times > 1) & (2 * times > np.bincount(own)[stratum])])
    return np.concatenate(long)


def _chains(near: Mapping[int, Sequence[int]], texts: int) -> NDArray[np.int64]:
    """The number of the chain of each of so many different texts."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    one = [number for number, others in near.items() for _ in others]
    other = [number for others in near.values() for number in others]
    graph = csr_array((np.ones(len(one)), (one, other)), shape=(texts, texts))
    return connected_components(graph, directed=False)[1].astype(np.int64)
