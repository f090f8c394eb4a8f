"""Features of text pairs for linear models: what the texts share, where they differ, and how their words
align.

With a few thousand pairs, shared words are evidence that an encoder of the single texts hardly learns. With
static embeddings, words of similar meaning match too, and the words of one text without a match in the
other show what only it says (soft alignment, as in Parikh, Täckström, Das, Uszkoreit: A decomposable
attention model for natural language inference; EMNLP 2016; here without training).
"""

from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from headwise.core import native

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Floats = NDArray[np.float32]

GROUPS = 4
"""Number of columns of `compare_matrices` per feature."""
OVERLAPS = 8
"""Length of the output of `overlap`."""
NUMBERS = OVERLAPS + 6
"""Further numbers per pair: those of `overlap` and of `matched`."""
MOST_MATCHED = 1_000
"""Maximum number of aligned words per text; longer texts use the words of largest weight."""


def dense_pair_size(size: int) -> int:
    """The length of the output of `dense_pair_features`, for word vectors of this size."""
    return 4 * size + 1 + NUMBERS


def compare_matrices(a: Any, b: Any) -> "csr_matrix":
    """Compare two sparse matrices `[pairs, features]`: shared values, `min(a, b)`; those of the first only,
    `max(a - b, 0)`; of the second only, `max(b - a, 0)`; and the second, concatenated: `[pairs, 4 *
    features]`."""
    from scipy.sparse import csr_matrix, hstack  # slow to load, and most predictions do without

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
    u, v = (words.sum(axis=0, dtype=np.float32) for words in (first, second))
    return native.align_words(u, v, _heaviest(first), _heaviest(second))


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
