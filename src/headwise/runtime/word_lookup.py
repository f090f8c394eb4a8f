"""Vectors of words and texts: those of a vocabulary, or those of a base."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from headwise.core import native
from headwise.runtime.layers import Floats
from headwise.text.static_embeddings.base_vectors import (
    BaseTokens,
    DistinctWords,
    QuantizedMatrix,
    StaticEmbeddings,
)
from headwise.text.text_features import EncodedText

_KEPT = 1 << 16  # distinct words whose vectors are cached
_TEXTS = 1024  # texts per batch


def text_vectors(
    vectors: Floats, weights: Floats, places: NDArray[np.int64], lengths: NDArray[np.int64]
) -> Floats:
    """Weighted sums of the word vectors of each text at length 1, `[texts, size]`; 0 without words.

    Args:
        vectors: Vectors of the different words, `[kinds, size]`.
        weights: Their weights, `[kinds]`.
        places: The row of each word in `vectors`, text after text, `[total]`.
        lengths: Number of words of each text, `[texts]`.
    """
    ends = lengths.cumsum()
    sums = native.weighted_sums(vectors, weights, places, ends - lengths, ends)
    return sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), np.float32(1e-12))


class WordLookup:
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


class BaseLookup:
    """Word and text vectors from a base (see `headwise.nn.embeddings.base_embedding`).

    Args:
        base: The base, without corrections.
        corrections: Trained corrections of the word vectors, `[vocabulary, size]`; None if the base was not
            trained.
        table: The vectors of words and subwords in one matrix; None to copy those of the base.
    """

    def __init__(
        self, base: StaticEmbeddings, corrections: Floats | None, table: QuantizedMatrix | None = None
    ):
        self.base, self.corrections, self.size = base, corrections, base.size
        if table is None:
            tables = base.table, base.subwords
            table = QuantizedMatrix(
                np.concatenate([table.values for table in tables]),
                np.concatenate([table.scales for table in tables]),
            )
        self._values, self._scales = table.values, table.scales

    def prepare(self, texts: Sequence[Sequence[str]]) -> list[BaseTokens]:
        """Compositions of the words of tokenised texts."""
        return BaseTokens.of(self.base, texts)

    def words(self, texts: Sequence[EncodedText]) -> tuple[Floats, Floats]:
        """Word vectors with corrections, text after text, `[total, size]`, and their weights, `[total]`."""
        vectors, weights, places = self.different([text.spelling for text in texts])
        rows = vectors[places]
        if self.corrections is not None:
            numbers = np.concatenate([np.zeros(0, dtype=np.int64), *(text.words for text in texts)])
            in_vocabulary = np.flatnonzero(numbers)
            rows[in_vocabulary] += self.corrections[numbers[in_vocabulary]]
        return rows, weights[places]

    def texts(self, texts: Sequence[EncodedText]) -> Floats:
        """Text vectors without corrections, `[texts, size]`: weighted means of word vectors, at length
        1."""
        parts = [self._texts(texts[start : start + _TEXTS]) for start in range(0, len(texts), _TEXTS)]
        return np.concatenate([np.zeros((0, self.size), dtype=np.float32), *parts])

    def _texts(self, texts: Sequence[EncodedText]) -> Floats:
        vectors, weights, places = self.different([text.spelling for text in texts])
        return text_vectors(vectors, weights, places, np.array([*map(len, texts)], dtype=np.int64))

    def contributions(self, texts: Sequence[EncodedText]) -> tuple[Floats, NDArray[np.int64]]:
        """What each word adds to its text vector, without corrections, text after text, `[total, size]`
        (they sum to the vector), and the offsets of the texts, `[texts + 1]`."""
        pieces = [text.spelling for text in texts]
        ends = np.cumsum([0, *map(len, pieces)])
        return native.word_contributions(*self.different(pieces), ends), ends

    def different(self, pieces: Sequence[BaseTokens]) -> tuple[Floats, Floats, NDArray[np.int64]]:
        """Vectors of the distinct words of texts, `[kinds, size]`, their weights, and the index of each
        word among the distinct words, `[total]`."""
        parts, places = BaseTokens.together(pieces)
        vectors = [np.zeros((0, self.size), dtype=np.float32)]
        vectors += [self._vectors(kinds, selected) for kinds, selected in parts]
        weights = [np.zeros(0, dtype=np.float32), *(kinds.weights[selected] for kinds, selected in parts)]
        return (
            np.concatenate(vectors) if len(parts) != 1 else vectors[1],
            np.concatenate(weights),
            places.astype(np.int64, copy=False),
        )

    def _vectors(self, kinds: DistinctWords, selected: NDArray[np.int64]) -> Floats:
        if len(kinds) > _KEPT:
            taken = kinds.take(selected)
            return self._means(taken)
        if kinds.vectors is None:
            kinds.vectors = self._means(kinds)
        return kinds.vectors if len(selected) == len(kinds) else kinds.vectors[selected]

    def _means(self, kinds: DistinctWords) -> Floats:
        return native.mean_vectors(self._values, self._scales, kinds.rows, kinds.ends)
