"""Groups of words that stand among the same neighbours, from texts without labels.

A word is described by how much oftener than by chance each common word stands one or two places before or
behind it (positive pointwise mutual information; Bullinaria & Levy 2007), this by the first singular
vectors, and words whose vectors point the same way are a group, at several levels of fineness.
"""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack

from headwise.features.bases.groups import LEVELS, WordGroups, key_of_word
from headwise.pretrain.numbering import Numbers

Floats = NDArray[np.float32]

PLACES = (-2, -1, 1, 2)
"""Of the neighbours that are counted, from the word."""
_CONTEXTS = 4_000  # common words that are counted as neighbours
_FEATURES = 100
_PART = 1 << 17  # passages that are counted together
_CENTRED = 16_000  # common words, of which the centres of groups are the means
_TURNS = 6


def group_words(
    numbers: Numbers,
    words: list[str],
    kept: NDArray[np.bool_],
    *,
    seed: int,
    report: Callable[[int, int], None],
) -> WordGroups:
    """The groups of words.

    Args:
        numbers: Passages; may be on disk.
        words: Those with the first numbers, in their plain lower-case spelling, the commonest first.
        kept: Which of them are to have groups, `[words]`.
        seed: Of everything random.
        report: Called with passages done, and all.
    """
    seed %= 1 << 32  # scikit-learn takes no larger one
    vectors = neighbour_vectors(numbers, len(words), seed=seed, report=report)
    keys = np.array([key_of_word(word) for word in words], dtype=np.uint32)
    _, first = np.unique(keys, return_index=True)  # of words with the same key the commoner has it
    rows = np.flatnonzero(kept & np.isin(np.arange(len(words)), first))
    return WordGroups(keys[rows], grouped(vectors, seed=seed)[rows])


def neighbour_vectors(
    numbers: Numbers, words: int, *, seed: int, report: Callable[[int, int], None]
) -> Floats:
    """What stands beside each of the words with the first numbers, `[words, features]`, as vectors of
    length 1 (0 where nothing does)."""
    from sklearn.utils.extmath import randomized_svd

    counts = neighbour_counts(numbers, words, report)
    together = csr_matrix(hstack([_information(own) for own in counts]))
    how: dict[str, Any] = {"n_iter": 4, "random_state": seed}  # whose types scikit-learn tells wrong
    left, values, _ = randomized_svd(together, min(_FEATURES, words), **how)
    vectors = (left * np.sqrt(values)).astype(np.float32)
    vectors[np.diff(together.indptr) == 0] = 0  # but for rounding
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


def neighbour_counts(
    numbers: Numbers, words: int, report: Callable[[int, int], None] = lambda done, total: None
) -> list[csr_matrix]:
    """How often the common words stand in each of `PLACES` from each word, `[words, contexts]`, the
    commonest context first."""
    often = np.zeros(words, dtype=np.int64)
    for flat, _ in _parts_of(numbers):
        often += np.bincount(flat[flat < words], minlength=words)
    contexts = min(_CONTEXTS, words)
    column = np.full(words + 1, -1, dtype=np.int32)  # the last is for all other words
    column[np.argsort(-often, kind="stable")[:contexts]] = np.arange(contexts)
    found = [csr_matrix((words, contexts), dtype=np.float32) for _ in PLACES]
    for number, (flat, text_of) in enumerate(_parts_of(numbers)):
        column_of = column[np.minimum(flat, words)]
        for own, place in enumerate(PLACES):
            before, behind = max(0, -place), max(0, place)
            here, there = slice(before, len(flat) - behind), slice(behind, len(flat) - before)
            both = (flat[here] < words) & (column_of[there] >= 0) & (text_of[here] == text_of[there])
            cells = flat[here][both], column_of[there][both]
            ones = np.ones(len(cells[0]), dtype=np.float32)
            found[own] += csr_matrix((ones, cells), shape=(words, contexts))
        report(min((number + 1) * _PART, len(numbers)), len(numbers))
    return found


def grouped(vectors: Floats, *, seed: int) -> NDArray[np.int16]:
    """The groups of words by k-means, `[words, levels]`.

    Args:
        vectors: Of the words, the commonest first, `[words, features]`.
        seed: Of the words that are the first centres.
    """
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    how: dict[str, Any] = {"init": "random", "n_init": 1, "max_iter": _TURNS, "random_state": seed}
    found = np.zeros((len(vectors), len(LEVELS)), dtype=np.int16)
    for level, most in enumerate(LEVELS):
        common = vectors[:_CENTRED]
        means = KMeans(min(most, len(common)), **how)
        with warnings.catch_warnings():  # words with the same neighbours are in one group
            warnings.simplefilter("ignore", ConvergenceWarning)
            found[:, level] = means.fit(common).predict(vectors)
    return found


def _parts_of(numbers: Numbers) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int64]]]:
    """The numbers of some passages, one after the other, and which passage of them each is in."""
    for start in range(0, len(numbers), _PART):
        bounds = numbers.starts[start : start + _PART + 1]
        flat = np.asarray(numbers.flat[bounds[0] : bounds[-1]])
        yield flat, np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))


def _information(counts: csr_matrix) -> csr_matrix:
    """How much oftener than by chance words meet, in nats; nothing where it is less often. Of contexts, of
    which rare ones seem to say too much, chance goes by the power 3/4 (Levy, Goldberg & Dagan 2015)."""
    cells = counts.tocoo()
    words = np.asarray(counts.sum(axis=1)).ravel()
    contexts = np.asarray(counts.sum(axis=0)).ravel() ** 0.75
    chance = words[cells.row] * contexts[cells.col] / max(contexts.sum(), 1e-12)
    nats = np.log(cells.data / np.maximum(chance, 1e-12)).astype(np.float32)
    kept = nats > 0
    return csr_matrix((nats[kept], (cells.row[kept], cells.col[kept])), shape=counts.shape)
