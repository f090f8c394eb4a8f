"""Texts that are nearly the same: found among many in time that grows with their number, not its square.

Two texts are near each other if they have the same words (case, spacing and punctuation aside), or if seven
of ten of their runs of three words are common to both (Jaccard). In Chinese and Japanese, which have no
spaces, runs are of three characters. Candidates come from MinHash (Broder 1997): of 60 random orders of the
runs the first of each, three at a time in 20 bands; of two texts with as much in common as that, at least
one band agrees in 999 of 1,000 cases, with half in common in 93 of 100. Candidates are then compared as
they are.
"""

import re
import zlib
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from headwise.data.duplicates import composed
from headwise.features.tokenize import cut_plainly

ENOUGH = 0.7
"""Share of their runs that near texts have in common."""
_RUN = 3  # words
_LEAST = 8  # words from which a changed one leaves enough
_BANDS, _ROWS = 20, 3
_PIECE, _AT_ONCE = 4096, 65_536  # runs: a text may be a whole book
_LOOKED_AT = 20  # texts of one band that are compared: more are the same phrases over and over
_WORD = re.compile(r"\w+|\N{SYMBOL FOR RECORD SEPARATOR}")  # which keeps the texts of a pair apart

_chance = np.random.default_rng(1997)
_FACTORS = _chance.integers(1, 1 << 62, _BANDS * _ROWS, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
_TERMS = _chance.integers(0, 1 << 63, _BANDS * _ROWS, dtype=np.uint64)
_MIXED = _chance.integers(1, 1 << 62, (_RUN, 1), dtype=np.uint64) * np.uint64(2) + np.uint64(1)
_BAND = _chance.integers(1, 1 << 62, _ROWS, dtype=np.uint64) * np.uint64(2) + np.uint64(1)


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
        self._texts, self._number = set(texts), _Numbers()
        found = (_runs(text, self._number) for text in (sorted(self._texts) if runs else ()))
        self._runs = [own for own in found if len(own)]
        self._places: list[dict[int, list[int]]] = [{} for _ in range(_BANDS)]
        for number, bands in enumerate(_bands(self._runs).tolist()):
            for places, band in zip(self._places, bands, strict=True):
                if len(others := places.setdefault(band, [])) < _LOOKED_AT:
                    others.append(number)

    def has(self, text: str) -> bool:
        """Whether a text, as `words_of` gives it, is near one of these."""
        if text in self._texts or not self._runs or not len(own := _runs(text, self._number)):
            return text in self._texts
        bands = zip(self._places, _bands([own])[0].tolist(), strict=True)
        others = {number for places, band in bands for number in places.get(band, ())}
        return any(_common(own, self._runs[number]) >= ENOUGH for number in others)


def near_texts(texts: Sequence[str], enough: float = ENOUGH) -> dict[int, list[int]]:
    """Of each text that is near others the numbers of these, the same ones first.

    Args:
        texts: As `words_of` gives them; empty ones are near nothing.
        enough: Share of their runs that near texts have in common.
    """
    same: dict[str, list[int]] = {}
    for number, text in enumerate(texts):
        if text:
            same.setdefault(text, []).append(number)
    groups, number_of = list(same.values()), _Numbers()
    runs = [_runs(text, number_of) for text in same]
    near: dict[int, list[int]] = {}
    for one, other in sorted(_candidates(runs)):
        if _common(runs[one], runs[other]) >= enough:
            near.setdefault(one, []).append(other)
            near.setdefault(other, []).append(one)
    found: dict[int, list[int]] = {}
    for one, group in enumerate(groups):
        beside = [number for other in near.get(one, ()) for number in groups[other]]
        for number in group:
            if others := [own for own in group if own != number] + beside:
                found[number] = others
    return found


class _Numbers(dict[str, int]):
    """A number for each word, made when it is first asked for."""

    def __missing__(self, word: str) -> int:
        number = self[word] = zlib.crc32(word.encode("utf-8", "surrogatepass"))
        return number


def _runs(text: str, number_of: _Numbers) -> NDArray[np.uint64]:
    """A number for each different run of words."""
    words = cut_plainly(text)
    if len(words) < _LEAST:
        return np.zeros(0, dtype=np.uint64)
    numbers = np.fromiter(map(number_of.__getitem__, words), np.uint64, len(words))
    windows = np.lib.stride_tricks.sliding_window_view(numbers, len(words) - _RUN + 1)
    return np.unique((windows * _MIXED).sum(axis=0, dtype=np.uint64))


def _bands(texts: Sequence[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """A number for what the runs of each text have in each band, `[texts, bands]`."""
    starts = [(n, at) for n, runs in enumerate(texts) for at in range(0, len(runs), _PIECE)]
    pieces = [texts[n][at : at + _PIECE] for n, at in starts]
    least = np.full((len(texts), len(_FACTORS)), np.iinfo(np.uint64).max, dtype=np.uint64)
    ends = np.cumsum([len(own) for own in pieces], dtype=np.int64)
    for chosen in np.split(np.arange(len(pieces)), np.flatnonzero(np.diff(ends // _AT_ONCE)) + 1):
        if len(chosen):
            some = [pieces[n] for n in chosen]
            at = np.cumsum([0, *map(len, some[:-1])])
            orders = np.concatenate(some)[:, None] * _FACTORS + _TERMS
            np.minimum.at(least, [starts[n][0] for n in chosen], np.minimum.reduceat(orders, at, axis=0))
    return (least.reshape(-1, _BANDS, _ROWS) * _BAND).sum(axis=2, dtype=np.uint64)


def _candidates(runs: Sequence[NDArray[np.uint64]]) -> set[tuple[int, int]]:
    """Pairs of texts with a band in common, the earlier text first."""
    found: set[tuple[int, int]] = set()
    some = np.flatnonzero([len(own) > 0 for own in runs])
    for bands in _bands([runs[n] for n in some.tolist()]).T:
        order = np.argsort(bands, kind="stable")
        ends = np.append(np.flatnonzero(np.diff(bands[order])) + 1, len(order))
        sizes = np.diff(ends, prepend=0)
        for end, size in zip(ends[sizes > 1].tolist(), sizes[sizes > 1].tolist(), strict=True):
            own = some[order[end - size : end]].tolist()
            found.update((a, b) for place, b in enumerate(own) for a in own[: min(place, _LOOKED_AT)])
    return found


def _common(one: NDArray[np.uint64], other: NDArray[np.uint64]) -> float:
    both = len(np.intersect1d(one, other, assume_unique=True))
    return both / (len(one) + len(other) - both)
