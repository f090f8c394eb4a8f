"""Features of text pairs for linear models: what the texts share, where they differ, and how their words
align.

With a few thousand pairs, shared words are evidence that an encoder of the single texts hardly learns. With
static embeddings, words of similar meaning match too, and the words of one text without a match in the
other show what only it says (soft alignment, as in Parikh, Täckström, Das, Uszkoreit: A decomposable
attention model for natural language inference; EMNLP 2016; here without training).
"""

from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack

from headwise.core.numba_cache import compiled_kernel

Floats = NDArray[np.float32]

GROUPS = 4
"""Number of columns of `compare_matrices` per feature."""
OVERLAPS = 8
"""Length of the output of `overlap`."""
NUMBERS = OVERLAPS + 6
"""Further numbers per pair: those of `overlap` and of `matched`."""
MOST_MATCHED = 1_000
"""Maximum number of aligned words per text; longer texts use the words of largest weight."""
_ROUNDING = np.float32(1e-5)
"""Relative length below which a vector is rounding error, as between texts with the same words: it has no
meaningful direction, which would differ from one machine to the next."""


def dense_pair_size(size: int) -> int:
    """The length of the output of `dense_pair_features`, for word vectors of this size."""
    return 4 * size + 1 + NUMBERS


def compare_matrices(a: Any, b: Any) -> csr_matrix:
    """Compare two sparse matrices `[pairs, features]`: shared values, `min(a, b)`; those of the first only,
    `max(a - b, 0)`; of the second only, `max(b - a, 0)`; and the second, concatenated: `[pairs, 4 *
    features]`."""
    difference = a - b
    groups = [a.minimum(b), difference.maximum(0), (-difference).maximum(0), b]
    return csr_matrix(hstack([csr_matrix(group) for group in groups], format="csr"))


def overlap(first: Sequence[Hashable], second: Sequence[Hashable]) -> tuple[float, ...]:
    """Overlap statistics of two texts: the share of each text's words that the other has; the Jaccard
    index; the same shares for neighbouring words; whether the texts are equal; the difference of their log
    lengths, and its absolute value."""
    first_words, second_words = set(first), set(second)
    pairs = [set(pairwise(words)) for words in (first, second)]
    shared = len(first_words & second_words)
    return (
        shared / max(len(first_words), 1),
        shared / max(len(second_words), 1),
        shared / max(len(first_words | second_words), 1),
        len(pairs[0] & pairs[1]) / max(len(pairs[0]), 1),
        len(pairs[0] & pairs[1]) / max(len(pairs[1]), 1),
        float(list(first) == list(second)),
        float(np.log1p(len(first)) - np.log1p(len(second))),
        float(abs(np.log1p(len(first)) - np.log1p(len(second)))),
    )


def overlap_of_numbers(first: NDArray[np.int64], second: NDArray[np.int64]) -> tuple[float, ...]:
    """`overlap` of texts given as word indices. Index 0 is an unknown word, which never matches."""
    return overlap(
        *(np.where(numbers == 0, mark, numbers).tolist() for numbers, mark in ((first, -1), (second, -2)))
    )


def align_words(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Compare two texts by soft alignment of their word vectors, `[words, size]` each; the length of a
    vector is the weight of its word.

    Each word is aligned with the word of the other text of highest cosine. The unmatched part of a text is
    the sum of its word vectors, each times 1 minus that cosine.

    Returns:
        The vectors, `[4 * size + 1]`: absolute difference and product of the text vectors, the unmatched
        part of the first and of the second (all of length 1), and the cosine of the texts. The numbers,
        `[6]`, for each text: mean and minimum of the alignment cosines, and the largest unmatched weight
        relative to the largest word weight.
    """
    size = first.shape[1]
    vectors, numbers = np.zeros(4 * size + 1, dtype=np.float32), np.zeros(6, dtype=np.float32)
    u, v = (words.sum(axis=0, dtype=np.float32) for words in (first, second))
    _align_kernel(u, v, _heaviest(first), _heaviest(second), vectors, numbers)
    return vectors, numbers


@compiled_kernel(fastmath={"contract", "reassoc", "nsz"})
def _align_kernel(
    u: Floats, v: Floats, first: Floats, second: Floats, vectors: Floats, numbers: Floats
) -> None:
    """The kernel of `matched`: takes the text vectors and the aligned words."""
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
    _unmatched_part(first, counts_first, best_first, vectors[2 * size : 3 * size], numbers[:3])
    _unmatched_part(second, counts_second, best_second, vectors[3 * size : 4 * size], numbers[3:])
    for part in range(4):
        _to_length_one(vectors[part * size : (part + 1) * size])


@compiled_kernel(fastmath={"contract", "reassoc", "nsz"})
def _unmatched_part(words: Floats, counts: Floats, best: Floats, left: Floats, numbers: Floats) -> None:
    """Compute the unmatched part of a text, and its three numbers."""
    total = matched = most = heaviest = np.float32(0)
    worst = np.float32(1)
    for i in range(len(words)):
        short = 1 - best[i]
        for at in range(len(left)):
            left[at] += short * words[i, at]
        total, matched = total + counts[i], matched + best[i] * counts[i]
        worst, most = min(worst, best[i]), max(most, short * counts[i])
        heaviest = max(heaviest, counts[i])
    numbers[0] = matched / max(total, np.float32(1e-6))
    numbers[1] = worst
    numbers[2] = most / max(heaviest, np.float32(1e-6))


@compiled_kernel()
def _lengths(rows: Floats) -> Floats:
    return np.sqrt((rows * rows).sum(axis=1))


@compiled_kernel()
def _to_length_one(vector: Floats) -> None:
    length = np.sqrt((vector * vector).sum())
    vector /= length if length > _ROUNDING else np.float32(np.inf)


PairSide = tuple[NDArray[np.int64], Floats]
"""One text of a pair: word indices, `[words]`, and word vectors, `[words, size]`."""


def dense_pair_features(first: PairSide, second: PairSide) -> Floats:
    """All dense features of a text pair: vectors of `matched`, then `overlap`, then numbers of `matched`,
    `[4 * size + 1 + NUMBERS]`."""
    vectors, numbers = align_words(first[1], second[1])
    overlaps = overlap_of_numbers(first[0], second[0])
    return np.concatenate([vectors, np.array(overlaps, dtype=np.float32), numbers])


def _heaviest(vectors: Floats) -> Floats:
    vectors = np.ascontiguousarray(vectors, dtype=np.float32)
    if len(vectors) <= MOST_MATCHED:
        return vectors
    return vectors[np.sort(np.argsort(-np.linalg.norm(vectors, axis=1), kind="stable")[:MOST_MATCHED])]
