"""Pieces: what the words of a text are made of, as a base sees them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.features.bases.base import Base


@dataclass(slots=True, eq=False)
class Kinds:
    """Different words, each the mean of some vectors.

    Attributes:
        rows: Numbers of the vectors, one word after the other, int32.
        ends: Where those of each word begin and the last end, `[kinds + 1]`, int64.
        weights: Of the words, `[kinds]`, float32.
        vectors: Those of the words, once somebody has asked for them.
    """

    rows: NDArray[np.int32]
    ends: NDArray[np.int64]
    weights: NDArray[np.float32]
    vectors: Any = None

    def __len__(self) -> int:
        return len(self.weights)

    def take(self, kinds: NDArray[np.int64]) -> "Kinds":
        """Some of them."""
        starts = self.ends[kinds]
        lengths = self.ends[kinds + 1] - starts
        ends = np.append(0, lengths.cumsum())
        places = np.arange(ends[-1]) + np.repeat(starts - ends[:-1], lengths)
        return Kinds(self.rows[places], ends, self.weights[kinds])


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """The words of a text.

    Attributes:
        kinds: The different words of all texts that were read with it.
        numbers: Which of them its own are, `[words]`, int32.
        unknown: How many words are not listed, in no spelling.
    """

    kinds: Kinds
    numbers: NDArray[np.int32]
    unknown: int = 0

    def __len__(self) -> int:
        """Number of words."""
        return len(self.numbers)

    @classmethod
    def of(cls, base: Base, texts: Sequence[Sequence[str]]) -> "list[Pieces]":
        """Those of texts."""
        words = list(chain.from_iterable(texts))
        places = {word: place for place, word in enumerate(dict.fromkeys(words))}
        numbers = np.fromiter(map(places.__getitem__, words), np.int32, len(words))
        found = [base.piece(word) for word in places]
        rows = np.array([row for piece in found for row in piece.rows], dtype=np.int32)
        ends = np.cumsum([0, *(len(piece.rows) for piece in found)])
        kinds = Kinds(rows, ends, np.array([piece.weight for piece in found], dtype=np.float32))
        unlisted = rows[ends[1:] - 1] >= len(base.words)
        bounds = np.cumsum([0, *map(len, texts)])
        unknown = np.diff(np.append(0, unlisted[numbers].cumsum())[bounds]).tolist()
        spans = pairwise(bounds.tolist())
        return [cls(kinds, numbers[slice(*span)], own) for span, own in zip(spans, unknown, strict=True)]

    @staticmethod
    def together(
        texts: Sequence["Pieces"],
    ) -> tuple[list[tuple[Kinds, NDArray[np.int64]]], NDArray[np.int64]]:
        """The different words of texts, as kinds and which of these, and which of them all each word is, of
        one text after the other."""
        tables = list({id(text.kinds): text.kinds for text in texts}.values())
        bounds = np.cumsum([0, *map(len, tables)])
        starts = {id(table): start for table, start in zip(tables, bounds.tolist(), strict=False)}
        numbers = [text.numbers for text in texts]
        if len(tables) > 1:
            numbers = [own + starts[id(text.kinds)] for own, text in zip(numbers, texts, strict=True)]
        flat = np.concatenate([np.zeros(0, dtype=np.int32), *numbers])
        used, places = different(flat, bounds[-1])
        cuts = np.split(used, np.searchsorted(used, bounds[1:-1]))
        found = [(table, cut - start) for table, cut, start in zip(tables, cuts, bounds, strict=False)]
        return found, places


def different(numbers: NDArray, count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The different ones of some numbers below `count`, in their order, and which of them each number is
    (`np.unique` without sorting)."""
    seen = np.zeros(count, dtype=np.bool_)
    seen[numbers] = True
    return np.flatnonzero(seen), (seen.cumsum() - 1)[numbers]
