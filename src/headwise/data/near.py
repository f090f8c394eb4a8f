"""Texts that are nearly the same: found among many in time that grows with their number, not its square.

Two texts are near each other if they have the same words (case, spacing and punctuation aside), or if seven
of ten of their runs of three words are common to both (Jaccard). In Chinese and Japanese, which have no
spaces, runs are of three characters. Candidates come from MinHash (Broder 1997): of 36 random orders of the
runs the first of each, three at a time in 12 bands; of two texts with as much in common as that, at least
one band agrees in 99 of 100 cases. Candidates are then compared as they are.
"""

import re
import zlib
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from headwise.data.duplicates import composed
from headwise.features.tokenize import cut_plainly

ENOUGH = 0.7
"""Share of their runs that near texts have in common."""
_RUN = 3  # words
_LEAST = 8  # words from which a changed one leaves enough
_BANDS, _ROWS = 12, 3
_LOOKED_AT = 20  # texts of one band that are compared: more are the same phrases over and over
_WORD = re.compile(r"\w+|\N{SYMBOL FOR RECORD SEPARATOR}")  # which keeps the texts of a pair apart

_chance = np.random.default_rng(1997)
_FACTORS = _chance.integers(1, 1 << 62, _BANDS * _ROWS, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
_TERMS = _chance.integers(0, 1 << 63, _BANDS * _ROWS, dtype=np.uint64)
_MIXED = _chance.integers(1, 1 << 62, (_RUN, 1), dtype=np.uint64) * np.uint64(2) + np.uint64(1)


def words_of(text: str) -> str:
    """The words of a text alone, for comparison: the same for texts that differ in case, spacing,
    punctuation and how accents are written. A text without words is itself."""
    return " ".join(_WORD.findall(composed(text).casefold())) or " ".join(text.split())


class Known:
    """Texts that others may be near to.

    Args:
        texts: As `words_of` gives them.
        runs: Whether texts with most runs in common are near; else only those with the same words are.
    """

    def __init__(self, texts: Iterable[str], *, runs: bool = True):
        self._texts = set(texts)
        self._runs = [own for own in map(_runs, sorted(self._texts) if runs else ()) if len(own)]
        self._bands: dict[bytes, list[int]] = {}
        for number, own in enumerate(self._runs):
            for band in _bands(own):
                if len(others := self._bands.setdefault(band, [])) < _LOOKED_AT:
                    others.append(number)

    def has(self, text: str) -> bool:
        """Whether a text, as `words_of` gives it, is near one of these."""
        if text in self._texts or not self._bands:
            return text in self._texts
        own = _runs(text)
        others = {number for band in _bands(own) for number in self._bands.get(band, ())}
        return any(_common(own, self._runs[number]) >= ENOUGH for number in others)


def near_texts(texts: Sequence[str], enough: float = ENOUGH) -> dict[int, list[int]]:
    """Of each text that is near others the numbers of these, the same ones first.

    Args:
        texts: As `words_of` gives them; empty ones are near nothing.
        enough: Share of their runs that near texts have in common; of those that have half, a fifth is not
            found.
    """
    same: dict[str, list[int]] = {}
    for number, text in enumerate(texts):
        if text:
            same.setdefault(text, []).append(number)
    groups, kept = list(same.values()), [_runs(text) for text in same]
    bands: dict[bytes, list[int]] = {}
    near: dict[int, list[int]] = {}
    for one, own in enumerate(kept):
        others = {other for band in _bands(own) for other in bands.setdefault(band, [])}
        for other in sorted(others):
            if _common(own, kept[other]) >= enough:
                near.setdefault(one, []).append(other)
                near.setdefault(other, []).append(one)
        for band in _bands(own):
            if len(bands[band]) < _LOOKED_AT:
                bands[band].append(one)
    found: dict[int, list[int]] = {}
    for one, group in enumerate(groups):
        beside = [number for other in near.get(one, ()) for number in groups[other]]
        for number in group:
            if others := [own for own in group if own != number] + beside:
                found[number] = others
    return found


def _runs(text: str) -> NDArray[np.uint64]:
    """A number for each different run of words."""
    words = cut_plainly(text)
    if len(words) < _LEAST:
        return np.zeros(0, dtype=np.uint64)
    numbers = np.array([zlib.crc32(word.encode("utf-8", "surrogatepass")) for word in words], np.uint64)
    windows = np.lib.stride_tricks.sliding_window_view(numbers, len(words) - _RUN + 1)
    return np.unique((windows * _MIXED).sum(axis=0, dtype=np.uint64))


def _bands(runs: NDArray[np.uint64]) -> Iterator[bytes]:
    if not len(runs):
        return
    least = np.full(len(_FACTORS), np.iinfo(np.uint64).max, dtype=np.uint64)
    for start in range(0, len(runs), 4096):  # a text may be a whole book
        orders = runs[start : start + 4096, None] * _FACTORS + _TERMS
        np.minimum(least, orders.min(axis=0), out=least)
    for band in range(_BANDS):
        yield bytes([band]) + least[band * _ROWS : (band + 1) * _ROWS].tobytes()


def _common(one: NDArray[np.uint64], other: NDArray[np.uint64]) -> float:
    both = len(np.intersect1d(one, other, assume_unique=True))
    return both / (len(one) + len(other) - both)
