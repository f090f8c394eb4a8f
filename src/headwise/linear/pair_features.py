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
"""Further numbers per pair: those of `overlap` and of the alignment."""
MOST_MATCHED = 1_000
"""Maximum number of aligned words per text; longer texts use the words of largest weight."""


def dense_pair_size(size: int) -> int:
    """The number of features of `compare_pairs`, for word vectors of this size."""
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


PairSide = tuple[NDArray[np.int64], Floats]
"""One text of a pair: word indices, `[words]`, and word vectors, `[words, size]`."""


def dense_pair_features(first: PairSide, second: PairSide) -> Floats:
    """All dense features of a text pair, `[4 * size + 1 + NUMBERS]`; see `compare_pairs`."""
    return compare_pairs([first, second])[0]


def compare_pairs(sides: Sequence[PairSide]) -> Floats:
    """All dense features of text pairs, `[pairs, 4 * size + 1 + NUMBERS]`.

    Words are compared by soft alignment. Each word is aligned with the word of the other text of highest
    cosine; the length of its vector is its weight. The unmatched part of a text is the sum of its word
    vectors, each times 1 minus that cosine. The features are:

    - absolute difference and product of the text vectors, the unmatched part of the first and of the second
      text, all of length 1, and the cosine of the texts, `[4 * size + 1]`;
    - `overlap` of the words, where index 0 is an unknown word, which never matches, `[OVERLAPS]`;
    - for each text, mean and minimum of the alignment cosines, and the largest unmatched weight relative to
      the largest word weight, `[6]`.

    Args:
        sides: The first texts of all pairs, then the second texts; one pair or more.
    """
    indices = np.concatenate([indices for indices, _ in sides])
    vectors = np.concatenate([vectors for _, vectors in sides]).astype(np.float32, copy=False)
    return compare_words(vectors, indices, np.cumsum([0, *(len(indices) for indices, _ in sides)]))


def compare_words(vectors: Floats, indices: NDArray[np.int64], ends: NDArray[np.int64]) -> Floats:
    """`compare_pairs` of texts whose words stand one after the other.

    Args:
        vectors: Vectors of the words, `[total, size]`.
        indices: Their indices, `[total]`.
        ends: Offsets of the texts, `[2 * pairs + 1]`.
    """
    return native.compare_pairs(vectors, indices, ends, MOST_MATCHED)
