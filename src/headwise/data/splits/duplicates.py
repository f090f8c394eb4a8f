"""Near-duplicate texts, found by MinHash and locality-sensitive hashing in near-linear time, and the groups
that a split keeps on one side.

A model scores too well on texts whose near-duplicates it was trained on. Two texts belong together if they
are equal (case and white space aside), have the same words, or share half of their word trigrams. Copies
with a word or two changed do (`headwise.data.splits.text_signatures`). Groups are the connected components
of these pairs, called chains here. Of pairs of texts, those with the same words in both texts, in either
order, belong together (`pair_keys`), or also those with the same first text (`chain_keys`). Different pairs
may share a long text, so their trigrams are not compared.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.data.splits.text_signatures import (
    EMPTY_DIGEST,
    MIN_SIMILARITY,
    TextTrigrams,
    first_places,
    normal_text,
    text_digests,
    words_for_comparison,
)


def find_near_duplicates(texts: Sequence[str]) -> dict[int, list[int]]:
    """The near-duplicates of each text that has any: its number, and theirs, equal texts first.

    Args:
        texts: The texts, as `words_for_comparison` returns them; empty texts have no near-duplicates.
    """
    same = {text: numbers for text, numbers in indices_by_key(texts).items() if text}
    groups = list(same.values())
    neighbours: dict[int, list[int]] = {}
    for first, second in TextTrigrams.of(same).similar_pairs(MIN_SIMILARITY).tolist():
        neighbours.setdefault(first, []).append(second)
        neighbours.setdefault(second, []).append(first)
    duplicates: dict[int, list[int]] = {}
    for place, group in enumerate(groups):
        nearly_equal = [number for neighbour in neighbours.get(place, ()) for number in groups[neighbour]]
        for number in group:
            if equal_or_near := [member for member in group if member != number] + nearly_equal:
                duplicates[number] = equal_or_near
    return duplicates


_MANY = 10  # least number of distinct first texts, and of chains of pairs, per part


def indices_by_key(keys: Iterable[str]) -> dict[str, list[int]]:
    """The indices of the items of each distinct key, in the order of first occurrence."""
    groups: dict[str, list[int]] = {}
    for number, key in enumerate(keys):
        groups.setdefault(key, []).append(number)
    return groups


def pair_group_keys(pairs: Sequence[tuple[str, str]], parts: int) -> list[str]:
    """A group key for each pair, for a split into `parts`: by `chain_keys`, or else by `pair_keys`."""
    return chain_keys(pairs, parts) or pair_keys(pairs)


def pair_keys(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """A group key for each pair, equal for those with the words of the same two texts, in either order."""
    keys = [f"{normal_text(first)}\n{normal_text(second)}" for first, second in pairs]
    return least_keys(_unordered_words(pairs), keys)


def chain_keys(pairs: Sequence[tuple[str, str]], parts: int) -> list[str] | None:
    """A group key for each pair, equal for pairs with the same first text, or the words of the same two
    texts in either order, and for all that are connected in this way: one premise often has linked
    hypotheses, and a pair tells much about its reverse.

    None if there are too few groups for so many parts (0 stands for any number), or if connecting makes a
    group of more than half a part: a few questions may have all the answers.
    """
    firsts = [normal_text(first) for first, _ in pairs]
    if not firsts or len(set(firsts)) < _MANY * parts:
        return None
    # A bipartite graph of first texts and unordered pairs; each pair of the data is an edge.
    first_numbers, pair_numbers = (key_numbers(keys) for keys in (firsts, _unordered_words(pairs)))
    edges = np.stack([first_numbers, first_numbers.max() + 1 + pair_numbers], axis=1)
    chains = _connected(edges, edges.max() + 1)[first_numbers]
    sizes = np.bincount(chains)
    most = max(len(pairs) / (2 * max(parts, 1)), np.bincount(first_numbers).max())
    return (
        least_keys(chains.tolist(), firsts) if len(sizes) >= _MANY * parts and sizes.max() <= most else None
    )


def _unordered_words(pairs: Sequence[tuple[str, str]]) -> list[tuple[str, ...]]:
    """The words of the two texts of each pair, sorted: case, punctuation and spacing do not count."""
    return [tuple(sorted(map(words_for_comparison, pair))) for pair in pairs]


def key_numbers(keys: Sequence[Hashable]) -> NDArray[np.int64]:
    """A number for each distinct key, in the order of first occurrence, `[keys]`."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


def least_keys(groups: Sequence[Hashable], keys: Sequence[str]) -> list[str]:
    """For each item the least key in its group."""
    least: dict[Hashable, str] = {}
    for group, key in zip(groups, keys, strict=True):
        least[group] = min(key, least.get(group, key))
    return [least[group] for group in groups]


TRIGRAM_OVERLAP = 0.5
"""Share of common word trigrams from which on two texts are near-duplicates."""
_LEAST = 4  # texts that a chain may have in a data set of any size


def near_duplicate_groups(
    texts: Sequence[str], strata: Sequence[Hashable] | None = None
) -> NDArray[np.int64]:
    """For each text the index of the text whose `normal_text` is the least in its group, `[texts]`:
    near-duplicates share it.

    A chain is split into groups of equal texts if it has more distinct texts than the square root of their
    total number, or more than half of those of a stratum (texts made from a template, lines of a log): held
    out as a whole, it would leave nothing like it to learn from. Texts are compared by digests of 64 bits.
    """
    first = first_places(text_digests(map(normal_text, texts)))
    distinct = np.flatnonzero(first == np.arange(len(first)))
    listed = _TextsAt(texts, distinct)
    distinct_strata = None if strata is None else [strata[int(number)] for number in distinct]
    chains = _connected(similar_texts(listed), len(distinct))
    apart = np.isin(chains, _long_chains(chains, distinct_strata))
    leaders = np.arange(len(distinct))
    least: dict[int, tuple[str, int]] = {}
    linked = np.flatnonzero((np.bincount(chains, minlength=1)[chains] > 1) & ~apart)
    for chain, place in zip(chains[linked].tolist(), linked.tolist(), strict=True):
        key = normal_text(listed[place])
        if chain not in least or key < least[chain][0]:
            least[chain] = key, place
    leaders[linked] = [least[chain][1] for chain in chains[linked].tolist()]
    return distinct[leaders][np.searchsorted(distinct, first)]


@dataclass(frozen=True, eq=False)
class GroupKeys(Sequence[str]):
    """The group key of each text, made when it is needed.

    Attributes:
        texts: The texts.
        groups: What `near_duplicate_groups` returns for them.
    """

    texts: Sequence[str]
    groups: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.groups)

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self[place] for place in range(*number.indices(len(self)))]
        return normal_text(self.texts[int(self.groups[number])])


def group_numbers(keys: Sequence[str]) -> NDArray[np.int64]:
    """The index of the first item with the same key (case and white space aside), `[items]`."""
    if isinstance(keys, GroupKeys):
        return first_places(keys.groups)
    return first_places(key_numbers([normal_text(key) for key in keys]))


def first_in_group(
    texts: Sequence[Any], parts: int, strata: Sequence[Hashable] | None = None
) -> NDArray[np.int64]:
    """The index of the first text, or pair, in the group of each, `[texts]`.

    Args:
        texts: Texts, grouped by `near_duplicate_groups`, or pairs, grouped by `pair_group_keys`.
        parts: The number of parts that are held out in turn (folds).
        strata: The stratum of each text.
    """
    if len(texts) > 0 and not isinstance(texts[0], str):
        return first_places(key_numbers(pair_group_keys(texts, parts)))
    return first_places(near_duplicate_groups(texts, strata))


@dataclass(frozen=True, eq=False)
class _TextsAt:
    """The texts at some places, without a list of them."""

    texts: "Sequence[str] | _TextsAt"
    places: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, number: int) -> str:
        return self.texts[int(self.places[number])]

    def __iter__(self) -> Iterator[str]:
        return (self.texts[int(place)] for place in self.places)  # a list of places takes 40 bytes a text


def similar_texts(texts: "Sequence[str] | _TextsAt") -> NDArray[np.int64]:
    """Pairs of near-duplicates among distinct texts, `[pairs, 2]`; of texts with the same words, each is
    paired with the first alone."""
    digests = text_digests(words_for_comparison(normal_text(text)) for text in texts)
    first, places = first_places(digests), np.arange(len(digests))
    read = places[(first == places) & (digests != EMPTY_DIGEST)]
    words = (words_for_comparison(normal_text(text)) for text in _TextsAt(texts, read))
    similar = TextTrigrams.of(words).similar_pairs(TRIGRAM_OVERLAP)
    again = (first != places) & (digests != EMPTY_DIGEST)
    return np.concatenate([np.stack([first[again], places[again]], axis=1), read[similar]])


def count_in_long_chains(pairs: NDArray[np.int64], strata: Sequence[Hashable]) -> int:
    """How many distinct texts are in chains that `near_duplicate_groups` splits.

    Args:
        pairs: What `similar_texts` returns for the texts.
        strata: The stratum of each text.
    """
    chains = _connected(pairs, len(strata))
    return int(np.isin(chains, _long_chains(chains, strata)).sum())


def _long_chains(chains: NDArray[np.int64], strata: Sequence[Hashable] | None) -> NDArray[np.int64]:
    """The numbers of the chains of distinct texts that are to be split."""
    sizes = np.bincount(chains, minlength=1)
    long = [np.flatnonzero(sizes > max(isqrt(len(chains)), _LEAST))]
    if strata:
        stratum_numbers = key_numbers(strata)
        (chain, stratum), times = np.unique(np.stack([chains, stratum_numbers]), axis=1, return_counts=True)
        long.append(chain[(times > 1) & (2 * times > np.bincount(stratum_numbers)[stratum])])
    return np.concatenate(long)


def _connected(pairs: NDArray[np.int64], texts: int) -> NDArray[np.int64]:
    """The number of the connected component of each of `texts` texts by pairs `[pairs, 2]`, `[texts]`."""
    # SciPy has this, too, but takes a tenth of a second to load it.
    leaders, before = np.arange(texts), None
    while before is None or not np.array_equal(leaders, before):
        before = leaders.copy()
        least = before[pairs].min(axis=1)
        np.minimum.at(leaders, before[pairs], least[:, None])  # those of the leaders of both
        np.minimum.at(leaders, pairs, least[:, None])
        leaders = leaders[leaders]
    return np.unique(leaders, return_inverse=True)[1]
