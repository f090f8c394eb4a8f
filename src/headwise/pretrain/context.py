"""The text as its own teacher: words that stand together are near one another.

Every word of a passage is told from random ones by the mean of the passage's other words (as in sent2vec:
Pagliardini, Gupta, Jaggi; 2018), so it is means of words, which are what a base is used for, that learn to
say what a passage is about. Runs of letters are fitted afterwards, in one step.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.numpy import save_file
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_matrix, diags

from headwise.pretrain.config import ContextConfig
from headwise.pretrain.numbering import Numbers
from headwise.pretrain.pieces import runs_of
from headwise.pretrain.work import whole

Floats = NDArray[np.float32]
_TABLE = 1 << 22
_PART = 1 << 15  # passages between two reports
_COMMON = 1e-3


def train_contexts(
    numbers: Numbers,
    counts: NDArray[np.int64],
    size: int,
    config: ContextConfig,
    *,
    epochs: int,
    seed: int,
    state: Path,
    report: Callable[[int, int, str], None],
) -> Floats:
    """Vectors of words from the passages that they stand in, `[words, size]`.

    The state is written after every epoch, and what is random depends on seed and epoch alone.

    Args:
        numbers: The passages; may be on disk.
        counts: How often each word occurs, `[words]`.
        size: Features of a vector.
        config: See there.
        epochs: Passes over the passages.
        seed: Of everything random.
        state: File of the state.
        report: Called with passages done, all, and what to tell.
    """
    from headwise.pretrain.context_kernel import train_passages

    keep = np.ones(len(counts))
    if config.common:
        share = np.maximum(counts, 1) / max(1, counts.sum())
        keep = np.minimum(1, np.sqrt(config.common / share) + config.common / share)
    table = _draws(counts)
    vectors = (np.random.default_rng(seed).random((len(counts), size), np.float32) - 0.5) / size
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
        # Parts in random order, passages in random order within: the text may be larger than memory.
        for start in shuffle.permutation(np.arange(0, len(numbers), _PART)):
            part = start + shuffle.permutation(min(_PART, len(numbers) - start))
            rate, last = (config.learning_rate * (1 - at / everything) for at in (done, done + len(part)))
            own, words = train_passages(
                numbers.flat, numbers.starts, part, vectors, outputs, keep, table,
                config.width, config.negatives, rate, last, random,
            )  # fmt: skip
            loss, seen = loss + own, seen + words
            done += len(part)
            report(done, everything, f"loss {loss / max(seen, 1):.3f}")
        with whole(state) as partial:
            save_file({"vectors": vectors, "outputs": outputs}, partial, {"epochs": str(epoch + 1)})
    return vectors.astype(np.float32, copy=False)


def _draws(counts: NDArray[np.int64]) -> NDArray[np.int32]:
    """Words in the shares in which random ones are drawn: counts to the power of 3/4."""
    shares = np.maximum(counts, 0).astype(np.float64) ** 0.75
    ends = np.cumsum(shares) / max(shares.sum(), 1e-12)
    size = min(_TABLE, max(1024, 64 * len(counts)))
    found = np.searchsorted(ends, (np.arange(size) + 0.5) / size)
    return np.minimum(found, len(counts) - 1).astype(np.int32)


def common_weights(counts: NDArray[np.int64], total: int) -> Floats:
    """Weights of words in their text, the less the commoner, and that of a word never seen: a / (a + p)
    (Arora, Liang, Ma; 2017)."""
    share = np.append(np.maximum(counts, 1), 1) / max(1, total)
    return (_COMMON / (_COMMON + share)).astype(np.float32)


def without_common_part(vectors: Floats, weights: Floats, counts: NDArray[np.int64]) -> Floats:
    """Vectors without what the text has in common everywhere: its mean."""
    of = weights * counts
    mean = (of[:, None] * vectors).sum(axis=0, dtype=np.float64) / max(float(of.sum()), 1e-12)
    return (vectors - mean).astype(np.float32)


def fit_subwords(
    words: Sequence[str], vectors: Floats, trust: Floats, buckets: int, ridge: float = 1.0
) -> Floats:
    """The vectors of runs of letters whose means are nearest to the vectors of words (ridge regression).

    Args:
        words: In their plain spelling.
        vectors: Of them, `[words, size]`.
        trust: How much each counts, `[words]`.
        buckets: How many vectors.
        ridge: Keeps those of rare runs small.
    """
    runs, starts = runs_of(words, buckets)
    lengths = np.diff(starts)
    share = np.repeat(1 / lengths, lengths).astype(np.float32)
    made = csr_matrix((share, runs, starts), shape=(len(words), buckets))  # adds up runs that come twice
    made.sum_duplicates()
    weighted = diags(trust.astype(np.float32)) @ made
    square = np.asarray((made.T @ weighted).todense(), np.float32)
    square[np.diag_indices(buckets)] += ridge * max(float(square.trace()) / buckets, 1e-6)
    return cho_solve(cho_factor(square, lower=True), weighted.T @ vectors).astype(np.float32)
