"""The linear expert of text pairs: a linear SVM on what two texts share and where they differ.

As for single texts (`headwise.linear.expert`), its say is added to the encoder's logits with a weight
that is fitted on dev: with a few thousand pairs, which words both texts have is evidence that an encoder
that reads them apart hardly learns. With a base it also reads how the vectors of both texts compare, which
tells words that mean the same from words that do not.
"""

from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from headwise.features.ngrams import NgramVocabulary
from headwise.linear.expert import LinearExpert

NUMBERS = 8  # of `overlap`
MOST_WITH_VECTORS = 20_000
"""Training pairs above which vectors are left out: the SVM would take minutes, and words tell enough."""

Words = NDArray[np.int64]
"""Word numbers of a text; 0 is an unknown word."""
Floats = NDArray[np.float32]
PairWords = tuple[Words, Words] | tuple[Words, Words, Floats]
"""What the expert reads of a pair: the words of both texts, and perhaps `compared_vectors` of them."""


class PairExpert(LinearExpert):
    """A linear classifier of pairs; it reads `PairWords`."""

    @staticmethod
    def columns(features: int) -> int:
        return 4 * features + NUMBERS

    @staticmethod
    def texts(items: Sequence[PairWords]) -> list[Words]:
        return [item[0] for item in items] + [item[1] for item in items]

    @staticmethod
    def matrix(vocabulary: NgramVocabulary, items: Sequence[PairWords]) -> Any:
        features = pair_features(vocabulary, [(item[0], item[1]) for item in items])
        vectors = [item[2] for item in items if len(item) == 3]
        if not vectors:
            return features
        return sparse.hstack([features, sparse.csr_matrix(np.stack(vectors))], format="csr")


def pair_features(vocabulary: NgramVocabulary, pairs: Sequence[tuple[Words, Words]]) -> Any:
    """`[pairs, 4 * features + 8]`, sparse: `compared` of both texts' TF-IDF, and their overlap."""
    numbers = [overlap(_told_apart(one, -1), _told_apart(other, -2)) for one, other in pairs]
    firsts, seconds = [first for first, _ in pairs], [second for _, second in pairs]
    dense = np.array(numbers, dtype=np.float32).reshape(-1, NUMBERS)
    return compared(vocabulary.transform(firsts), vocabulary.transform(seconds), dense)


def compared(a: Any, b: Any, numbers: np.ndarray) -> Any:
    """What two sparse matrices `[pairs, features]` share, `min(a, b)`; what only the first has, `max(a - b,
    0)`; what only the second has, `max(b - a, 0)`; the second; and further numbers, side by side."""
    difference = a - b
    groups = [a.minimum(b), difference.maximum(0), (-difference).maximum(0), b, numbers]
    return sparse.hstack([sparse.csr_matrix(group) for group in groups], format="csr")


def compared_vectors(first: Floats, second: Floats) -> Floats:
    """How the vectors of two texts compare, both `[pairs, size]`: how far they are apart in each direction
    and their product in each, both of length 1, and their cosine; `[pairs, 2 * size + 1]`."""
    apart, product = np.abs(first - second), first * second
    parts = [_of_length_one(apart), _of_length_one(product), product.sum(axis=1, keepdims=True)]
    return np.hstack(parts).astype(np.float32)


def _of_length_one(rows: Floats) -> Floats:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6)


def overlap(first: Sequence[Hashable], second: Sequence[Hashable]) -> tuple[float, ...]:
    """How the words of two texts overlap: the shares of the first's and the second's words that the other
    has; the Jaccard index; the same shares of neighbouring words; whether the texts are the same; and how
    the lengths compare, by their logarithms."""
    own, rival = set(first), set(second)
    pairs = [set(pairwise(words)) for words in (first, second)]
    shared = len(own & rival)
    return (
        shared / max(len(own), 1),
        shared / max(len(rival), 1),
        shared / max(len(own | rival), 1),
        len(pairs[0] & pairs[1]) / max(len(pairs[0]), 1),
        len(pairs[0] & pairs[1]) / max(len(pairs[1]), 1),
        float(list(first) == list(second)),
        float(np.log1p(len(first)) - np.log1p(len(second))),
        float(abs(np.log1p(len(first)) - np.log1p(len(second)))),
    )


def _told_apart(words: Words, unknown: int) -> list[int]:
    """Word numbers; unknown words get a number that no word of the other text has."""
    return np.where(words == 0, unknown, words).tolist()
