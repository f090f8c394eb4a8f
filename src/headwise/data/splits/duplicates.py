"""Near-duplicate texts, found by MinHash and locality-sensitive hashing in near-linear time.

Two texts are near-duplicates if they have the same words (ignoring case, spacing and punctuation), or if
the Jaccard similarity of their sets of word trigrams is at least 0.7. Chinese and Japanese have no spaces,
so their trigrams are of characters. MinHash (Broder 1997) with 60 hash functions, in 20 bands of 3,
proposes candidate pairs: it finds 999 of 1,000 pairs with a similarity of 0.7, and 93 of 100 with 0.5. The
exact similarity of each candidate pair is then computed.

Which texts count as equal, and which pairs of texts stay on one side of a split.

Group near-duplicate texts, so that a split keeps each group on one side.

A model scores too well on texts whose near-duplicates it was trained on. Two texts belong together if they
are equal (case and white space aside), have the same words, or share half of their word trigrams (see
`headwise.data.splits.duplicates`), as copies with a word or two changed do. Groups are the connected
components of these pairs, called chains here.
"""

import re
import zlib
from array import array
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import pairwise
from math import isqrt
from typing import Any
from unicodedata import normalize

import numpy as np
import regex
from numpy.typing import NDArray

from headwise.core import native
from headwise.core.tokenizer import split_approximately

MIN_SIMILARITY = 0.7
"""Least Jaccard similarity of the trigram sets of near-duplicates."""
_TRIGRAM = 3  # words
_LEAST_WORDS = 8  # words; in a shorter text one changed word changes too many trigrams
_BANDS, _ROWS = 20, 3
_MAX_BUCKET = 20  # texts per bucket that are compared; larger buckets hold repeated phrases
_WORD = re.compile(r"\w+|\N{SYMBOL FOR RECORD SEPARATOR}")  # the separator of the two texts of a pair

_random = np.random.default_rng(1997)
_HASH_FACTORS = _random.integers(1, 1 << 62, _BANDS * _ROWS, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
_HASH_OFFSETS = _random.integers(0, 1 << 63, _BANDS * _ROWS, dtype=np.uint64)
_TRIGRAM_FACTORS = _random.integers(1, 1 << 62, _TRIGRAM, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
_BAND_FACTORS = _random.integers(1, 1 << 62, _ROWS, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
_MINHASHES = _HASH_FACTORS, _HASH_OFFSETS, _BAND_FACTORS


def words_for_comparison(text: str) -> str:
    """The words of a text, case-folded and joined by spaces, for comparison.

    The result ignores case, spacing, punctuation and the encoding of accents. A text without words keeps
    its characters."""
    return " ".join(_WORD.findall(compose_accents(text).casefold())) or " ".join(text.split())


class NearDuplicateIndex:
    """An index of texts that is searched for duplicates and near-duplicates of a text.

    Args:
        texts: The texts, as `words_for_comparison` returns them.
        runs: Whether to search for near-duplicates by trigrams; if not, only for texts with the same words.
    """

    def __init__(self, texts: Iterable[str], *, runs: bool = True):
        self._texts, self._trigrams = set(texts), _TrigramReader()
        hashes, ends = self._trigrams(sorted(self._texts) if runs else ())
        bands = native.minhash_bands(hashes, ends, *_MINHASHES)
        self._sets = [hashes[start:end] for start, end in pairwise(ends.tolist())]
        self._places: list[dict[int, list[int]]] = [{} for _ in range(_BANDS)]
        for number in np.flatnonzero(np.diff(ends)).tolist():
            for places, band in zip(self._places, bands[number].tolist(), strict=True):
                if len(bucket := places.setdefault(band, [])) < _MAX_BUCKET:
                    bucket.append(number)

    def has_near_duplicate_of(self, text: str) -> bool:
        """Whether the index contains a duplicate or near-duplicate of a text (as `words_for_comparison`
        returns it)."""
        if text in self._texts or not self._places[0]:
            return text in self._texts
        hashes, ends = self._trigrams([text])
        if not len(hashes):
            return False
        bands = native.minhash_bands(hashes, ends, *_MINHASHES)[0].tolist()
        candidates = {
            number
            for places, band in zip(self._places, bands, strict=True)
            for number in places.get(band, ())
        }
        return any(native.jaccard(hashes, self._sets[number]) >= MIN_SIMILARITY for number in candidates)


def find_near_duplicates(texts: Sequence[str], enough: float = MIN_SIMILARITY) -> dict[int, list[int]]:
    """The near-duplicates of each text that has any: its number, and theirs, equal texts first.

    Args:
        texts: The texts, as `words_for_comparison` returns them; empty texts have no near-duplicates.
        enough: Least Jaccard similarity of the trigram sets of near-duplicates.
    """
    same: dict[str, list[int]] = {}
    for number, text in enumerate(texts):
        if text:
            same.setdefault(text, []).append(number)
    groups = list(same.values())
    hashes, ends = _TrigramReader()([*same])
    bands = native.minhash_bands(hashes, ends, *_MINHASHES)
    neighbours: dict[int, list[int]] = {}
    for first, second in native.similar_pairs(hashes, ends, bands, _MAX_BUCKET, enough).tolist():
        neighbours.setdefault(first, []).append(second)
        neighbours.setdefault(second, []).append(first)
    duplicates: dict[int, list[int]] = {}
    for place, group in enumerate(groups):
        nearly_equal = [number for neighbour in neighbours.get(place, ()) for number in groups[neighbour]]
        for number in group:
            if equal_or_near := [member for member in group if member != number] + nearly_equal:
                duplicates[number] = equal_or_near
    return duplicates


class _WordHashes(dict[str, int]):
    """A cache of the hash (CRC-32) of each word."""

    def __missing__(self, word: str) -> int:
        number = self[word] = zlib.crc32(word.encode("utf-8", "surrogatepass"))
        return number


class _TrigramReader:
    """Reads the trigrams of texts."""

    def __init__(self) -> None:
        self._words = _WordHashes()

    def __call__(self, texts: Iterable[str]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """The hashes of the distinct word trigrams of each text, sorted, and their offsets, `[texts + 1]`;
        none of a text of under 8 words."""
        words, ends = array("I"), [0]
        for text in texts:
            words.extend(map(self._words.__getitem__, split_approximately(text)))
            ends.append(len(words))
        hashes = np.frombuffer(words, dtype=np.uint32) if words else np.zeros(0, dtype=np.uint32)
        return native.trigram_hashes(hashes, np.array(ends), _TRIGRAM_FACTORS, _LEAST_WORDS)


_MANY = 10  # least number of distinct first texts, and of chains of pairs, per part
_MANY_MARKS = regex.compile(r"\p{M}{100}")


def compose_accents(text: str) -> str:
    """A text with accents composed (Unicode's NFC), which some programs write apart. A text with a hundred
    combining marks in a row, which no script has, stays as it is: normalising it takes quadratic time."""
    return text if text.isascii() or _MANY_MARKS.search(text) else normalize("NFC", text)


def normal_text(text: str) -> str:
    """A text normalised for comparison: composed accents, folded case, white space collapsed."""
    return " ".join(compose_accents(text).casefold().split())


def indices_by_text(keys: Iterable[str]) -> dict[str, list[int]]:
    """The indices of the items of each distinct key, compared by `normal_text`, in the order of first
    occurrence."""
    return indices_by_key(map(normal_text, keys))


def indices_by_key(keys: Iterable[str]) -> dict[str, list[int]]:
    """The indices of the items of each distinct key."""
    groups: dict[str, list[int]] = {}
    for number, key in enumerate(keys):
        groups.setdefault(key, []).append(number)
    return groups


def pair_group_keys(pairs: Sequence[tuple[str, str]], parts: int) -> list[str]:
    """A group key for each pair, for a split into `parts`: by `chain_keys`, or else by `pair_keys`."""
    return chain_keys(pairs, parts) or pair_keys(pairs)


def pair_keys(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """A group key for each pair, equal for those with the same two texts, in either order."""
    texts = _normal(pairs)
    return least_keys(_unordered(texts), [f"{first}\n{second}" for first, second in texts])


def chain_keys(pairs: Sequence[tuple[str, str]], parts: int) -> list[str] | None:
    """A group key for each pair, equal for pairs with the same first text, or the same two texts in either
    order, and for all that are connected in this way: one premise often has several hypotheses, and a pair
    tells much about its reverse.

    None if there are too few groups for so many parts (0 stands for any number), or if connecting makes a
    group of more than half a part: a few questions may have all the answers.
    """
    texts = _normal(pairs)
    firsts = [first for first, _ in texts]
    if not firsts or len(set(firsts)) < _MANY * parts:
        return None
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    # A bipartite graph of first texts and unordered pairs; each pair of the data is an edge.
    first_numbers, pair_numbers = (key_numbers(keys) for keys in (firsts, _unordered(texts)))
    size = first_numbers.max() + pair_numbers.max() + 2
    graph = csr_array(
        (np.ones(len(pairs)), (first_numbers, first_numbers.max() + 1 + pair_numbers)), shape=(size, size)
    )
    chains = connected_components(graph, directed=False)[1][first_numbers]
    sizes = np.bincount(chains)
    most = max(len(pairs) / (2 * max(parts, 1)), np.bincount(first_numbers).max())
    return (
        least_keys(chains.tolist(), firsts) if len(sizes) >= _MANY * parts and sizes.max() <= most else None
    )


def _normal(pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(normal_text(first), normal_text(second)) for first, second in pairs]


def _unordered(texts: Sequence[tuple[str, str]]) -> list[tuple[str, ...]]:
    return [tuple(sorted(pair)) for pair in texts]


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


def near_duplicate_keys(texts: Sequence[str], strata: Sequence[Hashable] | None = None) -> list[str]:
    """A group key for each text: near-duplicates share it, and it does not depend on the order of the
    texts.

    A chain is split into groups of equal texts if it has more distinct texts than the square root of their
    total number, or more than half of those of a stratum (texts made from a template, lines of a log): held
    out as a whole, it would leave nothing like it to learn from.

    Args:
        texts: The texts.
        strata: The stratum of each text, such as its label.
    """
    places = indices_by_text(texts)
    different = [*places]
    distinct_strata = None if strata is None else [strata[numbers[0]] for numbers in places.values()]
    chains = _chains(near_duplicates_of(different), len(different))
    apart = np.isin(chains, _long_chains(chains, distinct_strata))
    least = least_keys(np.where(apart, -1 - np.arange(len(chains)), chains).tolist(), different)
    keys = [""] * len(texts)
    for key, numbers in zip(least, places.values(), strict=True):
        for number in numbers:
            keys[number] = key
    return keys


def first_in_group(
    texts: Sequence[Any], parts: int, strata: Sequence[Hashable] | None = None
) -> NDArray[np.int64]:
    """The index of the first text, or pair, in the group of each, `[texts]`.

    Args:
        texts: Texts, grouped by `near_duplicate_keys`, or pairs, grouped by `pair_group_keys`.
        parts: The number of parts that are held out in turn (folds).
        strata: The stratum of each text.
    """
    pairs = len(texts) > 0 and not isinstance(texts[0], str)
    first = np.empty(len(texts), dtype=np.int64)
    for numbers in indices_by_key(
        pair_group_keys(texts, parts) if pairs else near_duplicate_keys(texts, strata)
    ).values():
        first[numbers] = numbers[0]
    return first


def near_duplicates_of(texts: Sequence[str]) -> dict[int, list[int]]:
    """For each of these distinct texts that has near-duplicates, by index, the indices of these; see
    `find_near_duplicates`."""
    return find_near_duplicates([words_for_comparison(text) for text in texts], TRIGRAM_OVERLAP)


def count_in_long_chains(near_duplicates: Mapping[int, Sequence[int]], strata: Sequence[Hashable]) -> int:
    """How many distinct texts are in chains that `near_duplicate_keys` splits.

    Args:
        near_duplicates: The result of `near_duplicates_of`.
        strata: The stratum of each text.
    """
    chains = _chains(near_duplicates, len(strata))
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


def _chains(near_duplicates: Mapping[int, Sequence[int]], texts: int) -> NDArray[np.int64]:
    """The chain number of each of `texts` distinct texts, `[texts]`."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    rows = [number for number, neighbours in near_duplicates.items() for _ in neighbours]
    columns = [number for neighbours in near_duplicates.values() for number in neighbours]
    graph = csr_array((np.ones(len(rows)), (rows, columns)), shape=(texts, texts))
    return connected_components(graph, directed=False)[1].astype(np.int64)
