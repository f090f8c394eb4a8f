"""Group near-duplicate texts, so that a split keeps each group on one side.

A model scores too well on texts whose near-duplicates it was trained on. Two texts belong together if they
are equal (case and white space aside), have the same words, or share half of their word trigrams (see
`headwise.data.near`), as copies with a word or two changed do. Groups are the connected components of these
pairs, called chains here.
"""

from collections.abc import Hashable, Mapping, Sequence
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.data.duplicates import kept_together, least_keys, numbered, places_of, same_items
from headwise.data.near import near_texts, words_of

HALF = 0.5
"""Share of common word trigrams from which on two texts are near-duplicates."""
_LEAST = 4  # texts that a chain may have in a data set of any size


def alike_keys(texts: Sequence[str], strata: Sequence[Hashable] | None = None) -> list[str]:
    """A group key for each text: near-duplicates share it, and it does not depend on the order of the
    texts.

    A chain is split into groups of equal texts if it has more distinct texts than the square root of their
    total number, or more than half of those of a stratum (texts made from a template, lines of a log): held
    out as a whole, it would leave nothing like it to learn from.

    Args:
        texts: The texts.
        strata: The stratum of each text, such as its label.
    """
    places = same_items(texts)
    different = [*places]
    distinct_strata = None if strata is None else [strata[numbers[0]] for numbers in places.values()]
    chains = _chains(near_alike(different), len(different))
    apart = np.isin(chains, _long(chains, distinct_strata))
    least = least_keys(np.where(apart, -1 - np.arange(len(chains)), chains).tolist(), different)
    keys = [""] * len(texts)
    for key, numbers in zip(least, places.values(), strict=True):
        for number in numbers:
            keys[number] = key
    return keys


def first_alike(
    texts: Sequence[Any], parts: int, strata: Sequence[Hashable] | None = None
) -> NDArray[np.int64]:
    """The index of the first text, or pair, in the group of each, `[texts]`.

    Args:
        texts: Texts, grouped by `alike_keys`, or pairs, grouped by `kept_together`.
        parts: The number of parts that are held out in turn (folds).
        strata: The stratum of each text.
    """
    pairs = len(texts) > 0 and not isinstance(texts[0], str)
    first = np.empty(len(texts), dtype=np.int64)
    for numbers in places_of(kept_together(texts, parts) if pairs else alike_keys(texts, strata)).values():
        first[numbers] = numbers[0]
    return first


def near_alike(texts: Sequence[str]) -> dict[int, list[int]]:
    """For each of these distinct texts that has near-duplicates, by index, the indices of these; see
    `near_texts`."""
    return near_texts([words_of(text) for text in texts], HALF)


def in_long_chains(near_duplicates: Mapping[int, Sequence[int]], strata: Sequence[Hashable]) -> int:
    """How many distinct texts are in chains that `alike_keys` splits.

    Args:
        near_duplicates: The result of `near_alike`.
        strata: The stratum of each text.
    """
    chains = _chains(near_duplicates, len(strata))
    return int(np.isin(chains, _long(chains, strata)).sum())


def _long(chains: NDArray[np.int64], strata: Sequence[Hashable] | None) -> NDArray[np.int64]:
    """The numbers of the chains of distinct texts that are to be split."""
    sizes = np.bincount(chains, minlength=1)
    long = [np.flatnonzero(sizes > max(isqrt(len(chains)), _LEAST))]
    if strata:
        stratum_numbers = numbered(strata)
        (chain, stratum), times = np.unique(np.stack([chains, stratum_numbers]), axis=1, return_counts=True)
        long.append(chain[(times > 1) & (2 * times > np.bincount(stratum_numbers)[stratum])])
    return np.concatenate(long)


def _chains(near_duplicates: Mapping[int, Sequence[int]], texts: int) -> NDArray[np.int64]:
    """The chain number of each of `texts` distinct texts, `[texts]`."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    rows = [number for number, neighbours in near_duplicates.items() for _ in neighbours]
    columns = [number for neighbours in near_duplicates.values() for number in neighbours]
    graph = csr_array((np.ones(len(rows)), (rows, columns)), shape=(texts, texts))
    return connected_components(graph, directed=False)[1].astype(np.int64)
