"""Distributional word clusters from unlabelled text.

A word is represented by its positive pointwise mutual information with frequent words at the positions -2,
-1, 1 and 2 (Bullinaria & Levy 2007), reduced by a truncated SVD and normalised. K-means clusters the
vectors at several granularities.
"""

import warnings
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack

from headwise.text.static_embeddings.word_groups import LEVELS, WordClusters, word_hash
from headwise.training.pretraining.corpus import EncodedPassages

Floats = NDArray[np.float32]

PLACES = (-2, -1, 1, 2)
"""Positions of the context words, relative to the word."""
_CONTEXTS = 4_000  # frequent words that count as context words
_FEATURES = 100
_PART = 1 << 17  # passages per chunk
_CENTRED = 16_000  # frequent words on which k-means is fitted
_TURNS = 6


def word_clusters(
    numbers: EncodedPassages,
    words: list[str],
    grouped_words: NDArray[np.bool_],
    *,
    seed: int,
    report: Callable[[int, int], None],
) -> WordClusters:
    """Compute the word clusters.

    Args:
        numbers: Passages; may be on disk.
        words: The words with the first ids, in their plain lower-case spelling, by falling frequency.
        grouped_words: Mask of the words that get clusters, bool `[words]`.
        seed: Seed of all random numbers.
        report: Called with the number of passages done, and of all.
    """
    seed %= 1 << 32  # scikit-learn accepts no larger seed
    vectors = neighbour_vectors(numbers, len(words), seed=seed, report=report)
    keys = np.array([word_hash(word) for word in words], dtype=np.uint32)
    _, first = np.unique(keys, return_index=True)  # of words with the same key, the more frequent one
    rows = np.flatnonzero(grouped_words & np.isin(np.arange(len(words)), first))
    return WordClusters(keys[rows], cluster_words(vectors, seed=seed)[rows])


def neighbour_vectors(
    numbers: EncodedPassages, words: int, *, seed: int, report: Callable[[int, int], None]
) -> Floats:
    """Distributional vectors of the words with the first ids, `[words, features]`, at length 1 (0 for a
    word without context words)."""
    from sklearn.utils.extmath import randomized_svd

    counts = neighbour_counts(numbers, words, report)
    ppmi = csr_matrix(hstack([_ppmi(place_counts) for place_counts in counts]))
    left, values, _ = randomized_svd(
        ppmi,
        min(_FEATURES, words),
        n_iter=4,
        random_state=seed,
    )
    vectors = (left * np.sqrt(values)).astype(np.float32)
    vectors[np.diff(ppmi.indptr) == 0] = 0  # but for rounding
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


def neighbour_counts(
    numbers: EncodedPassages, words: int, report: Callable[[int, int], None] = lambda done, total: None
) -> list[csr_matrix]:
    """Co-occurrence counts, `[words, contexts]` for each of `PLACES`, the most frequent context word
    first."""
    often = np.zeros(words, dtype=np.int64)
    for flat, _ in _parts_of(numbers):
        often += np.bincount(flat[flat < words], minlength=words)
    contexts = min(_CONTEXTS, words)
    column = np.full(words + 1, -1, dtype=np.int32)  # the last is for all other words
    column[np.argsort(-often, kind="stable")[:contexts]] = np.arange(contexts)
    counts = [csr_matrix((words, contexts), dtype=np.float32) for _ in PLACES]
    for number, (flat, text_of) in enumerate(_parts_of(numbers)):
        column_of = column[np.minimum(flat, words)]
        for number_of_place, place in enumerate(PLACES):
            before, behind = max(0, -place), max(0, place)
            here, there = slice(before, len(flat) - behind), slice(behind, len(flat) - before)
            both = (flat[here] < words) & (column_of[there] >= 0) & (text_of[here] == text_of[there])
            cells = flat[here][both], column_of[there][both]
            ones = np.ones(len(cells[0]), dtype=np.float32)
            counts[number_of_place] += csr_matrix((ones, cells), shape=(words, contexts))
        report(min((number + 1) * _PART, len(numbers)), len(numbers))
    return counts


def cluster_words(vectors: Floats, *, seed: int) -> NDArray[np.int16]:
    """Cluster words by k-means at each level, int16 `[words, levels]`.

    Args:
        vectors: Vectors of the words, by falling frequency, `[words, features]`.
        seed: Seed of the initial centres.
    """
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    groups = np.zeros((len(vectors), len(LEVELS)), dtype=np.int16)
    for level, most in enumerate(LEVELS):
        common = vectors[:_CENTRED]
        means = KMeans(
            min(most, len(common)),
            init="random",
            n_init=1,
            max_iter=_TURNS,
            random_state=seed,
        )
        with warnings.catch_warnings():  # words with the same neighbours are in one group
            warnings.simplefilter("ignore", ConvergenceWarning)
            groups[:, level] = means.fit(common).predict(vectors)
    return groups


def _parts_of(numbers: EncodedPassages) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int64]]]:
    """Chunks of passages: their word ids, `[total]`, and the index of each word's passage, `[total]`."""
    for start in range(0, len(numbers), _PART):
        bounds = numbers.starts[start : start + _PART + 1]
        flat = np.asarray(numbers.flat[bounds[0] : bounds[-1]])
        yield flat, np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))


def _ppmi(counts: csr_matrix) -> csr_matrix:
    """Positive pointwise mutual information of counts `[words, contexts]`, in nats, of the same shape.
    Context counts are smoothed by the power 3/4, which reduces the bias to rare ones (Levy, Goldberg &
    Dagan 2015)."""
    cells = counts.tocoo()
    words = np.asarray(counts.sum(axis=1)).ravel()
    contexts = np.asarray(counts.sum(axis=0)).ravel() ** 0.75
    chance = words[cells.row] * contexts[cells.col] / max(contexts.sum(), 1e-12)
    nats = np.log(cells.data / np.maximum(chance, 1e-12)).astype(np.float32)
    positive = nats > 0
    return csr_matrix((nats[positive], (cells.row[positive], cells.col[positive])), shape=counts.shape)
