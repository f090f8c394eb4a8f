"""Counts of words and word pairs, weighted by TF-IDF: what a linear classifier reads.

Small labelled data hold much of their evidence in single words and pairs ("not good"), which a linear model
learns from a few hundred texts. headwise keeps such a model beside its encoder as a second expert.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from headwise.data.chunks import portions

_PAIR = np.int64(2**31)  # word numbers are below it, so first * _PAIR + second is unique
_BLOCK = 1 << 18


def ngram_keys(words: NDArray[np.int64]) -> NDArray[np.int64]:
    """A number for each word and each pair of neighbouring words of a text, `[2 * words - 1]`.

    Unknown words (number 0) are left out, and pairs that hold one too.
    """
    pairs = words[:-1] * _PAIR + words[1:]
    known = (words[:-1] > 0) & (words[1:] > 0)
    return np.concatenate([words[words > 0], pairs[known]])


def ngram_owners(words: NDArray[np.int64]) -> NDArray[np.int64]:
    """The places of both words of each of `ngram_keys`, `[keys, 2]`; a word alone is both."""
    known = words > 0
    alone, first = np.flatnonzero(known), np.flatnonzero(known[:-1] & known[1:])
    return np.concatenate([np.stack([alone, alone], 1), np.stack([first, first + 1], 1)])


@dataclass(frozen=True)
class NgramVocabulary:
    """The words and pairs that count, and how rare they are.

    Attributes:
        keys: Their numbers (see `ngram_keys`), sorted, `[features]`.
        idf: Inverse document frequency, `ln((1 + texts) / (1 + texts with it)) + 1`, `[features]`.
    """

    keys: NDArray[np.int64]
    idf: NDArray[np.float32]

    @classmethod
    def build(cls, texts: Sequence[NDArray[np.int64]], *, max_features: int = 200_000) -> "NgramVocabulary":
        """All words and pairs of the training texts, the most widespread where there are too many."""
        found = [np.unique(ngram_keys(words)) for words in texts]
        every = np.concatenate(found) if found else np.zeros(0, dtype=np.int64)
        keys, spread = np.unique(every, return_counts=True)
        if len(keys) > max_features:
            kept = np.sort(np.argsort(-spread, kind="stable")[:max_features])
            keys, spread = keys[kept], spread[kept]
        idf = np.log((1 + len(texts)) / (1 + spread)) + 1
        return cls(keys, idf.astype(np.float32))

    def transform(self, texts: Sequence[NDArray[np.int64]]) -> csr_matrix:
        """TF-IDF with logarithmic counts, rows of length 1: `[texts, features]`, float32."""
        parts = [self._part(block) for block in portions(texts, _BLOCK)]
        sizes, columns, values = (
            np.concatenate([part[n] for part in parts]) if parts else np.zeros(0) for n in range(3)
        )
        ends = np.concatenate([[0], sizes.cumsum()]).astype(np.int64)
        matrix = (values.astype(np.float32), columns.astype(np.int64), ends)
        return csr_matrix(matrix, shape=(len(texts), len(self.keys)))

    def _part(self, texts: Sequence[NDArray[np.int64]]) -> tuple[NDArray, NDArray, NDArray]:
        """Of some texts: how many features each has, and the columns and values of one after the other."""
        text = np.repeat(np.arange(len(texts)), [len(words) for words in texts])
        words = np.concatenate(texts)
        known = words > 0
        both = known[:-1] & known[1:] & (text[:-1] == text[1:])
        keys = np.concatenate([words[known], words[:-1][both] * _PAIR + words[1:][both]])
        text = np.concatenate([text[known], text[:-1][both]])
        places = np.searchsorted(self.keys, keys)
        found = places < len(self.keys)
        found[found] = self.keys[places[found]] == keys[found]
        # A number for each text and feature: sorted, they are the rows one after the other.
        width = max(len(self.keys), 1)
        cells, counts = np.unique(text[found] * width + places[found], return_counts=True)
        columns, sizes = cells % width, np.bincount(cells // width, minlength=len(texts))
        values = (1 + np.log(counts)) * self.idf[columns]
        some = sizes > 0
        if some.any():
            starts = (sizes.cumsum() - sizes)[some]
            values /= np.repeat(np.sqrt(np.add.reduceat(values**2, starts)), sizes[some])
        return sizes, columns, values
