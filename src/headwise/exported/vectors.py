"""Lookup of word and text vectors in NumPy."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from headwise.features.bases.base import Base
from headwise.features.bases.pieces import Kinds, Pieces
from headwise.features.encoded_text import EncodedText
from headwise.linear.pair_features import PairSide

Floats = NDArray[np.float32]
_KEPT = 1 << 16  # distinct words whose vectors are cached
_TEXTS = 1024  # texts per batch


class WordReader:
    """Vectors of the words of a vocabulary.

    Args:
        table: The vectors, `[vocabulary, size]`.
    """

    def __init__(self, table: Floats):
        self.table, self.size = table, table.shape[1]

    def words(self, texts: Sequence[EncodedText]) -> tuple[Floats, Floats]:
        """Word vectors, text after text, `[total, size]`, and their weights, `[total]`, all 1."""
        numbers = np.concatenate([np.zeros(0, dtype=np.int64), *(text.words for text in texts)])
        return self.table[numbers], np.ones(len(numbers), dtype=np.float32)


class BaseReader:
    """Word and text vectors from a base (see `headwise.features.bases.embedding`).

    Args:
        base: The base, without corrections.
        corrections: Trained corrections of the word vectors, `[vocabulary, size]`; None if the base was not
            trained.
    """

    def __init__(self, base: Base, corrections: Floats | None):
        self.base, self.corrections, self.size = base, corrections, base.size

    def prepare(self, texts: Sequence[Sequence[str]]) -> list[Pieces]:
        """Compositions of the words of tokenised texts."""
        return Pieces.of(self.base, texts)

    def words(self, texts: Sequence[EncodedText]) -> tuple[Floats, Floats]:
        """Word vectors with corrections, text after text, `[total, size]`, and their weights, `[total]`."""
        vectors, weights, places = self._different([text.spelling for text in texts])
        rows = vectors[places]
        if self.corrections is not None:
            numbers = np.concatenate([np.zeros(0, dtype=np.int64), *(text.words for text in texts)])
            in_vocabulary = np.flatnonzero(numbers)
            rows[in_vocabulary] += self.corrections[numbers[in_vocabulary]]
        return rows, weights[places]

    def sides(self, texts: Sequence[EncodedText]) -> list[PairSide]:
        """Inputs of the comparison of texts: the word ids of each text, and the contribution of each word
        to its text vector, without corrections (see `headwise.linear.pair_features`)."""
        vectors, weights, places = self._different([text.spelling for text in texts])
        compared: list[PairSide] = []
        start = 0
        for text in texts:
            word_places = places[start : start + len(text)]
            added = vectors[word_places] * weights[word_places, None]
            length = np.maximum(np.linalg.norm(added.sum(axis=0)), np.float32(1e-12))
            compared.append((text.words, added / length))
            start += len(text)
        return compared

    def texts(self, texts: Sequence[EncodedText]) -> Floats:
        """Text vectors without corrections, `[texts, size]`: weighted means of word vectors, at length
        1."""
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
        """Vectors of the distinct words of texts, `[kinds, size]`, their weights, and the index of each
        word among the distinct words, `[total]`."""
        parts, places = Pieces.together(pieces)
        vectors = [np.zeros((0, self.size), dtype=np.float32)]
        vectors += [self._vectors(kinds, selected) for kinds, selected in parts]
        weights = [np.zeros(0, dtype=np.float32), *(kinds.weights[selected] for kinds, selected in parts)]
        return np.concatenate(vectors), np.concatenate(weights), places

    def _vectors(self, kinds: Kinds, selected: NDArray[np.int64]) -> Floats:
        if len(kinds) > _KEPT:
            taken = kinds.take(selected)
            return self.base.means(taken.rows, taken.ends)
        if kinds.vectors is None:
            kinds.vectors = self.base.means(kinds.rows, kinds.ends)
        return kinds.vectors[selected]
