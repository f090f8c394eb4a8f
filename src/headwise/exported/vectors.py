"""Vectors of words and of texts, looked up in NumPy."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from headwise.features.bases.base import Base
from headwise.features.bases.pieces import Kinds, Pieces
from headwise.features.encoded_text import EncodedText
from headwise.linear.pair_features import PairSide

Floats = NDArray[np.float32]
_KEPT = 1 << 16  # different words whose vectors are kept
_TEXTS = 1024  # whose vectors are computed together


class WordReader:
    """Vectors of the words that a vocabulary knows.

    Args:
        table: Their vectors, `[known, size]`.
    """

    def __init__(self, table: Floats):
        self.table, self.size = table, table.shape[1]

    def words(self, texts: Sequence[EncodedText]) -> tuple[Floats, Floats]:
        """The vectors of the words of one text after the other, `[total, size]`, and their weights,
        `[total]`: 1 each."""
        numbers = np.concatenate([np.zeros(0, dtype=np.int64), *(text.words for text in texts)])
        return self.table[numbers], np.ones(len(numbers), dtype=np.float32)


class BaseReader:
    """What a model reads of texts by a base (see `headwise.features.bases.embedding`).

    Args:
        base: The base as it came.
        corrections: What training has added to the vectors of the words of its texts, `[known, size]`;
            None where it has not.
    """

    def __init__(self, base: Base, corrections: Floats | None):
        self.base, self.corrections, self.size = base, corrections, base.size

    def prepare(self, texts: Sequence[Sequence[str]]) -> list[Pieces]:
        """What the words of texts are made of."""
        return Pieces.of(self.base, texts)

    def words(self, texts: Sequence[EncodedText]) -> tuple[Floats, Floats]:
        """The vectors of the words of one text after the other, `[total, size]`, and their weights,
        `[total]`."""
        vectors, weights, places = self._different([text.spelling for text in texts])
        found = vectors[places]
        if self.corrections is not None:
            numbers = np.concatenate([np.zeros(0, dtype=np.int64), *(text.words for text in texts)])
            known = np.flatnonzero(numbers)
            found[known] += self.corrections[numbers[known]]
        return found, weights[places]

    def sides(self, texts: Sequence[EncodedText]) -> list[PairSide]:
        """What is compared of texts, of each the numbers of its words and what each adds to its vector by
        the base as it came (see `headwise.linear.pair_features`)."""
        vectors, weights, places = self._different([text.spelling for text in texts])
        found: list[PairSide] = []
        start = 0
        for text in texts:
            own = places[start : start + len(text)]
            added = vectors[own] * weights[own, None]
            length = np.maximum(np.linalg.norm(added.sum(axis=0)), np.float32(1e-12))
            found.append((text.words, added / length))
            start += len(text)
        return found

    def texts(self, texts: Sequence[EncodedText]) -> Floats:
        """The vectors of texts by the base as it came, `[texts, size]`: the weighted mean of the words' at
        length 1."""
        pieces = [text.spelling for text in texts]
        parts = [self._texts(pieces[start : start + _TEXTS]) for start in range(0, len(pieces), _TEXTS)]
        return np.concatenate([np.zeros((0, self.size), dtype=np.float32), *parts])

    def _texts(self, pieces: Sequence[Pieces]) -> Floats:
        vectors, weights, places = self._different(pieces)
        ends = np.cumsum([0, *map(len, pieces)])
        shares = csr_matrix((weights[places], places, ends), shape=(len(pieces), len(vectors)))
        sums = np.asarray(shares @ vectors, dtype=np.float32)
        return sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)

    def _different(self, pieces: Sequence[Pieces]) -> tuple[Floats, Floats, NDArray[np.int64]]:
        """The vectors of the different words of texts, `[kinds, size]`, their weights, and which of them
        each word is, `[total]`."""
        parts, places = Pieces.together(pieces)
        vectors = [np.zeros((0, self.size), dtype=np.float32)]
        vectors += [self._vectors(kinds, own) for kinds, own in parts]
        weights = [np.zeros(0, dtype=np.float32), *(kinds.weights[own] for kinds, own in parts)]
        return np.concatenate(vectors), np.concatenate(weights), places

    def _vectors(self, kinds: Kinds, which: NDArray[np.int64]) -> Floats:
        if len(kinds) > _KEPT:
            own = kinds.take(which)
            return self.base.means(own.rows, own.ends)
        if kinds.vectors is None:
            kinds.vectors = self.base.means(kinds.rows, kinds.ends)
        return kinds.vectors[which]
