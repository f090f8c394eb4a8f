"""Pieces: the words of a text as indices into vectors of a base."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.text.static_embeddings.base_vectors import StaticEmbeddings


@dataclass(slots=True, eq=False)
class DistinctWords:
    """Distinct words, each composed as the mean of vectors of a base.

    Attributes:
        rows: Numbers of the vectors, word after word, int32.
        ends: Where the rows of each word begin, and the end, int64 `[kinds + 1]`.
        weights: Weights of the words, float32 `[kinds]`.
        vectors: Cache of the word vectors, `[kinds, size]`; None until they are computed.
    """

    rows: NDArray[np.int32]
    ends: NDArray[np.int64]
    weights: NDArray[np.float32]
    vectors: Any = None

    def __len__(self) -> int:
        return len(self.weights)

    def take(self, kinds: NDArray[np.int64]) -> "DistinctWords":
        """The words with these indices."""
        starts = self.ends[kinds]
        lengths = self.ends[kinds + 1] - starts
        ends = np.append(0, lengths.cumsum())
        places = np.arange(ends[-1]) + np.repeat(starts - ends[:-1], lengths)
        return DistinctWords(self.rows[places], ends, self.weights[kinds])


@dataclass(frozen=True, slots=True, eq=False)
class BaseTokens:
    """The words of a text.

    Attributes:
        kinds: The distinct words of all texts that were encoded together with this one.
        numbers: Index of each word in `kinds`, int32 `[words]`.
        unknown: Number of words that the base lists in no spelling.
    """

    kinds: DistinctWords
    numbers: NDArray[np.int32]
    unknown: int = 0

    def __len__(self) -> int:
        """Number of words."""
        return len(self.numbers)

    @classmethod
    def of(cls, base: StaticEmbeddings, texts: Sequence[Sequence[str]]) -> "list[BaseTokens]":
        """Encode tokenised texts."""
        words = list(chain.from_iterable(texts))
        places = {word: place for place, word in enumerate(dict.fromkeys(words))}
        numbers = np.fromiter(map(places.__getitem__, words), np.int32, len(words))
        pieces = [base.piece(word) for word in places]
        rows = np.array([row for piece in pieces for row in piece.rows], dtype=np.int32)
        ends = np.cumsum([0, *(len(piece.rows) for piece in pieces)])
        kinds = DistinctWords(rows, ends, np.array([piece.weight for piece in pieces], dtype=np.float32))
        unlisted = rows[ends[1:] - 1] >= len(base.words)
        bounds = np.cumsum([0, *map(len, texts)])
        unknown = np.diff(np.append(0, unlisted[numbers].cumsum())[bounds]).tolist()
        spans = pairwise(bounds.tolist())
        return [
            cls(kinds, numbers[slice(*span)], unknown_words)
            for span, unknown_words in zip(spans, unknown, strict=True)
        ]

    @staticmethod
    def together(
        texts: Sequence["BaseTokens"],
    ) -> tuple[list[tuple[DistinctWords, NDArray[np.int64]]], NDArray[np.int64]]:
        """The distinct words of texts that may have different `kinds`.

        Returns:
            Each `DistinctWords` with the indices that the texts use, and the index of each word among all
            used words, text after text, `[total]`.
        """
        tables = list({id(text.kinds): text.kinds for text in texts}.values())
        bounds = np.cumsum([0, *map(len, tables)])
        starts = {id(table): start for table, start in zip(tables, bounds.tolist(), strict=False)}
        numbers = [text.numbers for text in texts]
        if len(tables) > 1:
            numbers = [ids + starts[id(text.kinds)] for ids, text in zip(numbers, texts, strict=True)]
        flat = np.concatenate([np.zeros(0, dtype=np.int32), *numbers])
        used, places = unique_with_inverse(flat, bounds[-1])
        cuts = np.split(used, np.searchsorted(used, bounds[1:-1]))
        selections = [(table, cut - start) for table, cut, start in zip(tables, cuts, bounds, strict=False)]
        return selections, places


def unique_with_inverse(numbers: NDArray, count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct values among `numbers`, which are below `count`, in ascending order, and the index of
    each number among them (`np.unique` with `return_inverse`, without sorting)."""
    seen = np.zeros(count, dtype=np.bool_)
    seen[numbers] = True
    return np.flatnonzero(seen), (seen.cumsum() - 1)[numbers]
