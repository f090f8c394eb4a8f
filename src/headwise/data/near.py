"""Near-duplicate texts, found by MinHash and locality-sensitive hashing in near-linear time.

Two texts are near-duplicates if they have the same words (ignoring case, spacing and punctuation), or if
the Jaccard similarity of their sets of word trigrams is at least 0.7. Chinese and Japanese have no spaces,
so their trigrams are of characters. MinHash (Broder 1997) with 60 hash functions, in 20 bands of 3,
proposes candidate pairs: it finds 999 of 1,000 pairs with a similarity of 0.7, and 93 of 100 with 0.5. The
exact similarity of each candidate pair is then computed.
"""

import re
import zlib
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from headwise.data.duplicates import composed
from headwise.features.tokenize import cut_plainly

ENOUGH = 0.7
"""Least Jaccard similarity of the trigram sets of near-duplicates."""
_RUN = 3  # words
_LEAST = 8  # words; in a shorter text one changed word changes too many trigrams
_BANDS, _ROWS = 20, 3
_PIECE, _AT_ONCE = 4096, 65_536  # trigrams hashed at a time, as a text may be a book
_LOOKED_AT = 20  # texts per bucket that are compared; larger buckets hold repeated phrases
_WORD = re.compile(r"\w+|\N{SYMBOL FOR RECORD SEPARATOR}")  # the separator of the two texts of a pair

_chance = np.random.default_rng(1997)
_FACTORS = _chance.integers(1, 1 << 62, _BANDS * _ROWS, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
_TERMS = _chance.integers(0, 1 << 63, _BANDS * _ROWS, dtype=np.uint64)
_MIXED = _chance.integers(1, 1 << 62, (_RUN, 1), dtype=np.uint64) * np.uint64(2) + np.uint64(1)
_BAND = _chance.integers(1, 1 << 62, _ROWS, dtype=np.uint64) * np.uint64(2) + np.uint64(1)


def words_of(text: str) -> str:
    """The words of a text, case-folded and joined by spaces, for comparison.

    The result ignores case, spacing, punctuation and the encoding of accents. A text without words keeps
    its characters."""
    return " ".join(_WORD.findall(composed(text).casefold())) or " ".join(text.split())


class Known:
    """An index of texts that is searched for duplicates and near-duplicates of a text.

    Args:
        texts: The texts, as `words_of` returns them.
        runs: Whether to search for near-duplicates by trigrams; if not, only for texts with the same words.
    """

    def __init__(self, texts: Iterable[str], *, runs: bool = True):
        self._texts, self._number = set(texts), _Numbers()
        shingle_sets = (_runs(text, self._number) for text in (sorted(self._texts) if runs else ()))
        self._runs = [shingles for shingles in shingle_sets if len(shingles)]
        self._places: list[dict[int, list[int]]] = [{} for _ in range(_BANDS)]
        for number, bands in enumerate(_bands(self._runs).tolist()):
            for places, band in zip(self._places, bands, strict=True):
                if len(bucket := places.setdefault(band, [])) < _LOOKED_AT:
                    bucket.append(number)

    def has(self, text: str) -> bool:
        """Whether the index contains a duplicate or near-duplicate of a text (as `words_of` returns it)."""
        if text in self._texts or not self._runs or not len(shingles := _runs(text, self._number)):
            return text in self._texts
        bands = zip(self._places, _bands([shingles])[0].tolist(), strict=True)
        candidates = {number for places, band in bands for number in places.get(band, ())}
        return any(_common(shingles, self._runs[number]) >= ENOUGH for number in candidates)


def near_texts(texts: Sequence[str], enough: float = ENOUGH) -> dict[int, list[int]]:
    """The near-duplicates of each text that has any: its number, and theirs, equal texts first.

    Args:
        texts: The texts, as `words_of` returns them; empty texts have no near-duplicates.
        enough: Least Jaccard similarity of the trigram sets of near-duplicates.
    """
    same: dict[str, list[int]] = {}
    for number, text in enumerate(texts):
        if text:
            same.setdefault(text, []).append(number)
    groups, number_of = list(same.values()), _Numbers()
    runs = [_runs(text, number_of) for text in same]
    neighbours: dict[int, list[int]] = {}
    for first, second in sorted(_candidates(runs)):
        if _common(runs[first], runs[second]) >= enough:
            neighbours.setdefault(first, []).append(second)
            neighbours.setdefault(second, []).append(first)
    duplicates: dict[int, list[int]] = {}
    for place, group in enumerate(groups):
        nearly_equal = [number for neighbour in neighbours.get(place, ()) for number in groups[neighbour]]
        for number in group:
            if equal_or_near := [member for member in group if member != number] + nearly_equal:
                duplicates[number] = equal_or_near
    return duplicates


class _Numbers(dict[str, int]):
    """A cache of the hash (CRC-32) of each word."""

    def __missing__(self, word: str) -> int:
        number = self[word] = zlib.crc32(word.encode("utf-8", "surrogatepass"))
        return number


def _runs(text: str, number_of: _Numbers) -> NDArray[np.uint64]:
    """The hashes of the distinct word trigrams of a text, sorted; empty for a text of under 8 words."""
    words = cut_plainly(text)
    if len(words) < _LEAST:
        return np.zeros(0, dtype=np.uint64)
    numbers = np.fromiter(map(number_of.__getitem__, words), np.uint64, len(words))
    windows = np.lib.stride_tricks.sliding_window_view(numbers, len(words) - _RUN + 1)
    return np.unique((windows * _MIXED).sum(axis=0, dtype=np.uint64))


def _bands(texts: Sequence[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """The MinHash signature of each text, one hash per band, `[texts, bands]`."""
    starts = [(n, at) for n, runs in enumerate(texts) for at in range(0, len(runs), _PIECE)]
    pieces = [texts[n][at : at + _PIECE] for n, at in starts]
    least = np.full((len(texts), len(_FACTORS)), np.iinfo(np.uint64).max, dtype=np.uint64)
    ends = np.cumsum([len(piece) for piece in pieces], dtype=np.int64)
    for chosen in np.split(np.arange(len(pieces)), np.flatnonzero(np.diff(ends // _AT_ONCE)) + 1):
        if len(chosen):
            batch = [pieces[n] for n in chosen]
            at = np.cumsum([0, *map(len, batch[:-1])])
            orders = np.concatenate(batch)[:, None] * _FACTORS + _TERMS
            np.minimum.at(least, [starts[n][0] for n in chosen], np.minimum.reduceat(orders, at, axis=0))
    return (least.reshape(-1, _BANDS, _ROWS) * _BAND).sum(axis=2, dtype=np.uint64)


def _candidates(runs: Sequence[NDArray[np.uint64]]) -> set[tuple[int, int]]:
    """The candidate pairs: numbers of texts whose signatures agree in a band, the smaller number first."""
    pairs: set[tuple[int, int]] = set()
    nonempty = np.flatnonzero([len(shingles) > 0 for shingles in runs])
    for bands in _bands([runs[n] for n in nonempty.tolist()]).T:
        order = np.argsort(bands, kind="stable")
        ends = np.append(np.flatnonzero(np.diff(bands[order])) + 1, len(order))
        sizes = np.diff(ends, prepend=0)
        for end, size in zip(ends[sizes > 1].tolist(), sizes[sizes > 1].tolist(), strict=True):
            bucket = nonempty[order[end - size : end]].tolist()
            pairs.update((a, b) for place, b in enumerate(bucket) for a in bucket[: min(place, _LOOKED_AT)])
    return pairs


def _common(first: NDArray[np.uint64], second: NDArray[np.uint64]) -> float:
    """The Jaccard similarity of two sets of trigram hashes."""
    both = len(np.intersect1d(first, second, assume_unique=True))
    return both / (len(first) + len(second) - both)
