"""Training of word vectors by CBOW with negative sampling, and of subword vectors.

The mean of the other words of a passage predicts each word, against random negatives (as in sent2vec:
Pagliardini, Gupta, Jaggi; 2018). So means of words, which are what a base is used for, learn to represent
passages. Subword vectors are fitted to the word vectors afterwards, in one step.

Passages are cut into stretches of at most `width` words. For every word w of a stretch with the words c,
with the vectors v and u of each word: h = mean of v(c) over c != w, and

    loss = -log sigmoid(h u(w)) - sum of log sigmoid(-h u(n)) over the negatives n

Within a stretch, u changes after each word and v after the last one.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.numpy import save_file
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_matrix, diags

from headwise.core import native
from headwise.text.static_embeddings.word_groups import subword_buckets
from headwise.training.pretraining.base_config import ContextConfig
from headwise.training.pretraining.corpus import EncodedPassages
from headwise.training.pretraining.work_folder import atomic_path

Floats = NDArray[np.float32]
_TABLE = 1 << 22  # most entries of the sampling table
_PART = 1 << 15  # passages between two reports
_COMMON = 1e-3  # a of the smooth inverse frequency


def train_contexts(
    numbers: EncodedPassages,
    counts: NDArray[np.int64],
    size: int,
    config: ContextConfig,
    *,
    epochs: int,
    seed: int,
    state: Path,
    report: Callable[[int, int, str], None],
) -> Floats:
    """Train word vectors on passages, `[words, size]`.

    The state is saved after every epoch, and random numbers depend on seed and epoch only, so a run can be
    resumed.

    Args:
        numbers: The passages; may be on disk.
        counts: Frequency of each word, `[words]`.
        size: Dimensions of a vector.
        config: See `ContextConfig`.
        epochs: Passes over the passages.
        seed: Seed of all random numbers.
        state: File of the state.
        report: Called with the number of passages done, of all, and a message.
    """
    keep = np.ones(len(counts))
    if config.common:
        frequency = np.maximum(counts, 1) / max(1, counts.sum())
        keep = np.minimum(1, np.sqrt(config.common / frequency) + config.common / frequency)
    table = _draws(counts)
    random_vectors = np.random.default_rng(seed).random((len(counts), size), np.float32)
    vectors: Floats = (random_vectors - np.float32(0.5)) / np.float32(size)
    outputs = np.zeros_like(vectors)
    begin = 0
    if state.exists():
        with safe_open(state, "np") as file:
            begin = int(file.metadata()["epochs"])
            vectors, outputs = file.get_tensor("vectors"), file.get_tensor("outputs")
    everything = epochs * len(numbers)
    for epoch in range(begin, epochs):
        shuffle = np.random.default_rng([seed, epoch])
        random = np.array([seed * 1_000_003 + epoch + 1], np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        loss, seen = 0.0, 0
        done = epoch * len(numbers)
        # Parts in random order, and passages in random order within a part: the text may exceed memory.
        for start in shuffle.permutation(np.arange(0, len(numbers), _PART)):
            part = start + shuffle.permutation(min(_PART, len(numbers) - start))
            rate, last = (config.learning_rate * (1 - at / everything) for at in (done, done + len(part)))
            losses, words = native.train_passages(
                numbers.flat, numbers.starts, part, vectors, outputs, keep, table,
                config.width, config.negatives, rate, last, random,
            )  # fmt: skip
            loss, seen = loss + losses, seen + words
            done += len(part)
            report(done, everything, f"loss {loss / max(seen, 1):.3f}")
        with atomic_path(state) as partial:
            save_file({"vectors": vectors, "outputs": outputs}, partial, {"epochs": str(epoch + 1)})
    return vectors.astype(np.float32, copy=False)


def _draws(counts: NDArray[np.int64]) -> NDArray[np.int32]:
    """Sampling table of negatives: word ids with frequencies proportional to their counts to the power
    3/4."""
    masses = np.maximum(counts, 0).astype(np.float64) ** 0.75
    ends = np.cumsum(masses) / max(masses.sum(), 1e-12)
    size = min(_TABLE, max(1024, 64 * len(counts)))
    words = np.searchsorted(ends, (np.arange(size) + 0.5) / size)
    return np.minimum(words, len(counts) - 1).astype(np.int32)


def common_weights(counts: NDArray[np.int64], total: int) -> Floats:
    """Weights of words in the mean of a text, smaller for frequent words, `[words + 1]`; the last is for
    unseen words: a / (a + p), the smooth inverse frequency (Arora, Liang, Ma; 2017)."""
    frequency = np.append(np.maximum(counts, 1), 1) / max(1, total)
    return (_COMMON / (_COMMON + frequency)).astype(np.float32)


def without_common_part(vectors: Floats, weights: Floats, counts: NDArray[np.int64]) -> Floats:
    """Subtract the mean vector of the corpus from word vectors, `[words, size]`."""
    masses = weights * counts
    mean = (masses[:, None] * vectors).sum(axis=0, dtype=np.float64) / max(float(masses.sum()), 1e-12)
    return (vectors - mean).astype(np.float32)


def word_ngrams(words: Sequence[str], buckets: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Hash buckets of the character n-grams of words, word after word, and the start of each word's
    n-grams, with the end, `[words + 1]`."""
    runs, starts = subword_buckets(words, buckets)
    return runs.astype(np.int64), starts


def fit_subwords(
    words: Sequence[str], vectors: Floats, trust: Floats, buckets: int, ridge: float = 1.0
) -> Floats:
    """Fit n-gram vectors whose means approximate word vectors, by ridge regression, `[buckets, size]`.

    Args:
        words: Words in their plain spelling.
        vectors: Vectors of the words, `[words, size]`.
        trust: Weight of each word in the regression, `[words]`.
        buckets: Number of hash buckets of n-grams.
        ridge: Regularisation, relative to the mean diagonal; keeps vectors of rare n-grams small.
    """
    runs, starts = word_ngrams(words, buckets)
    lengths = np.diff(starts)
    parts = np.repeat(1 / lengths, lengths).astype(np.float32)
    means = csr_matrix((parts, runs, starts), shape=(len(words), buckets))
    means.sum_duplicates()  # a word may have an n-gram several times
    weighted = diags(trust.astype(np.float32)) @ means
    square = np.asarray((means.T @ weighted).todense(), np.float32)
    square[np.diag_indices(buckets)] += ridge * max(float(square.trace()) / buckets, 1e-6)
    return cho_solve(cho_factor(square, lower=True), weighted.T @ vectors).astype(np.float32)
