"""What a linear model reads of two texts: what they share, where they differ, and how their words match.

With a few thousand pairs, which words both texts have is evidence that an encoder that reads them apart
hardly learns. With a base, words that mean the same match too, and what is left of each text without the
words that have a match tells what it says and the other does not (soft alignment, as in Parikh, Täckström,
Das, Uszkoreit: A decomposable attention model for natural language inference; EMNLP 2016; here without
training).
"""

from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack

from headwise.kernel import kernel

Floats = NDArray[np.float32]

GROUPS = 4
"""Columns that `compared` has for each feature."""
OVERLAPS = 8
"""Numbers of `overlap`."""
NUMBERS = OVERLAPS + 6
"""Numbers of a pair: `overlap` and those of `matched`."""
MOST_MATCHED = 1_000
"""Words of a text that are matched with those of another: of longer texts those that count most."""
_ROUNDING = np.float32(1e-5)
"""What is no longer than that of a vector is what rounding leaves of texts with the same words: it has no
direction, which would differ from one machine to the next."""


def compared_size(size: int) -> int:
    """How many numbers `compared_words` gives, of vectors of words of this size."""
    return 4 * size + 1 + NUMBERS


def compared(a: Any, b: Any) -> csr_matrix:
    """What two sparse matrices `[pairs, features]` share, `min(a, b)`; what only the first has,
    `max(a - b, 0)`; what only the second has, `max(b - a, 0)`; and the second, side by side: `[pairs, 4 *
    features]`."""
    difference = a - b
    groups = [a.minimum(b), difference.maximum(0), (-difference).maximum(0), b]
    return csr_matrix(hstack([csr_matrix(group) for group in groups], format="csr"))


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


def overlap_of_numbers(first: NDArray[np.int64], second: NDArray[np.int64]) -> tuple[float, ...]:
    """`overlap` of texts of which the numbers of words are given; 0 is an unknown word, and no unknown word
    of one text is taken for one of the other."""
    return overlap(*(np.where(own == 0, mark, own).tolist() for own, mark in ((first, -1), (second, -2))))


def matched(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """How two texts compare by the vectors of their words, each as long as its word counts, `[words,
    size]`.

    The match of a word is the word of the other text whose direction is nearest to its own, and what is
    left of a text is the sum of its words' vectors, each as much as its cosine falls short of 1.

    Returns:
        How far the texts' vectors are apart in each direction, their product in each, what is left of the
        first and of the second, all of length 1, and the cosine of both texts, `[4 * size + 1]`; and for
        each text how well its words are matched in the mean, the worst match, and how much is left of the
        word of which most is left, beside the word that counts most, `[6]`.
    """
    size = first.shape[1]
    vectors, numbers = np.zeros(4 * size + 1, dtype=np.float32), np.zeros(6, dtype=np.float32)
    u, v = (own.sum(axis=0, dtype=np.float32) for own in (first, second))
    _match(u, v, _heaviest(first), _heaviest(second), vectors, numbers)
    return vectors, numbers


@kernel(fastmath={"contract", "reassoc", "nsz"})
def _match(u: Floats, v: Floats, first: Floats, second: Floats, vectors: Floats, numbers: Floats) -> None:
    """`matched`, from the sums of both texts' words and from the words that are matched."""
    size = len(u)
    best_first, best_second = np.zeros(len(first), np.float32), np.zeros(len(second), np.float32)
    counts_first, counts_second = _lengths(first), _lengths(second)
    for i in range(len(first)):
        for j in range(len(second)):
            product = np.float32(0)
            for at in range(size):
                product += first[i, at] * second[j, at]
            lengths = max(counts_first[i], np.float32(1e-6)) * max(counts_second[j], np.float32(1e-6))
            cosine = product / lengths
            best_first[i], best_second[j] = max(best_first[i], cosine), max(best_second[j], cosine)
    _to_length_one(u)
    _to_length_one(v)
    for at in range(size):
        vectors[at] = abs(u[at] - v[at])
        vectors[size + at] = u[at] * v[at]
        vectors[4 * size] += vectors[size + at]
    _leave(first, counts_first, best_first, vectors[2 * size : 3 * size], numbers[:3])
    _leave(second, counts_second, best_second, vectors[3 * size : 4 * size], numbers[3:])
    for part in range(4):
        _to_length_one(vectors[part * size : (part + 1) * size])


@kernel(fastmath={"contract", "reassoc", "nsz"})
def _leave(words: Floats, counts: Floats, best: Floats, left: Floats, numbers: Floats) -> None:
    """What is left of a text, and its three numbers."""
    whole = matched = most = heaviest = np.float32(0)
    worst = np.float32(1)
    for i in range(len(words)):
        short = 1 - best[i]
        for at in range(len(left)):
            left[at] += short * words[i, at]
        whole, matched = whole + counts[i], matched + best[i] * counts[i]
        worst, most = min(worst, best[i]), max(most, short * counts[i])
        heaviest = max(heaviest, counts[i])
    numbers[0] = matched / max(whole, np.float32(1e-6))
    numbers[1] = worst
    numbers[2] = most / max(heaviest, np.float32(1e-6))


@kernel()
def _lengths(rows: Floats) -> Floats:
    return np.sqrt((rows * rows).sum(axis=1))


@kernel()
def _to_length_one(vector: Floats) -> None:
    length = np.sqrt((vector * vector).sum())
    vector /= length if length > _ROUNDING else np.float32(np.inf)


PairSide = tuple[NDArray[np.int64], Floats]
"""The numbers of the words of a text, `[words]`, and their vectors, `[words, size]`."""


def compared_words(first: PairSide, second: PairSide) -> Floats:
    """All that is read of two texts but for single words: `matched`, and before its numbers `overlap`,
    `[4 * size + 1 + NUMBERS]`."""
    vectors, numbers = matched(first[1], second[1])
    overlaps = overlap_of_numbers(first[0], second[0])
    return np.concatenate([vectors, np.array(overlaps, dtype=np.float32), numbers])


def _heaviest(vectors: Floats) -> Floats:
    vectors = np.ascontiguousarray(vectors, dtype=np.float32)
    if len(vectors) <= MOST_MATCHED:
        return vectors
    return vectors[np.sort(np.argsort(-np.linalg.norm(vectors, axis=1), kind="stable")[:MOST_MATCHED])]
