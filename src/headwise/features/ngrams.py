"""Counts of words and word pairs, weighted by TF-IDF: what a linear classifier reads.

Small labelled data hold much of their evidence in single words and pairs ("not good"), which a linear model
learns from a few hundred texts. headwise keeps such a model beside its encoder as a second expert.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

_PAIR = np.int64(2**31)  # word numbers are below it, so first * _PAIR + second is unique


def ngram_keys(words: NDArray[np.int64]) -> NDArray[np.int64]:
    """A number for each word and each pair of neighbouring words of a text, `[2 * words - 1]`.

    Unknown words (number 0) are left out, and pairs that hold one too.
    """
    pairs = words[:-1] * _PAIR + words[1:]
    known = (words[:-1] > 0) & (words[1:] > 0)
    return np.concatenate([words[words > 0], pairs[known]])


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
        columns, values, ends = [], [], [0]
        for words in texts:
            keys, counts = np.unique(ngram_keys(words), return_counts=True)
            places = np.searchsorted(self.keys, keys)
            known = places < len(self.keys)
            known[known] = self.keys[places[known]] == keys[known]
            places = places[known]
            weights = (1 + np.log(counts[known])) * self.idf[places]
            norm = np.sqrt((weights**2).sum())
            columns.append(places)
            values.append(weights / norm if norm else weights)
            ends.append(ends[-1] + len(places))
        flat = [np.concatenate(part) if part else np.zeros(0) for part in (values, columns)]
        shape = (len(texts), len(self.keys))
        return csr_matrix((flat[0].astype(np.float32), flat[1].astype(np.int64), ends), shape=shape)
