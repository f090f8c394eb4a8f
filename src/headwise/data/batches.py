"""Plan batches of texts of similar length within a token budget, shuffled by seed and epoch."""

from collections.abc import Sequence

import numpy as np

_POOL = 50  # batches' worth of texts that are sorted together: similar lengths, yet a random mix


def plan_batches(
    lengths: Sequence[int] | np.ndarray,
    *,
    max_texts: int,
    max_tokens: int,
    seed: int,
    epoch: int,
) -> list[list[int]]:
    """The batches of one epoch, as lists of text indices; every text occurs once.

    Texts are shuffled, sorted by length within pools, cut so that no batch has more than `max_texts` texts
    or `max_tokens` words (a longer text is a batch of its own), and the batches are shuffled. Within a
    batch the longest text comes first. The same arguments give the same batches on every machine.
    """
    lengths = np.asarray(lengths, dtype=np.int64)
    random = np.random.Generator(np.random.PCG64([seed, epoch]))
    order = random.permutation(len(lengths))
    batches: list[list[int]] = []
    pool = max_texts * _POOL
    for start in range(0, len(order), pool):
        part = order[start : start + pool]
        batches += cut_batches(
            part[np.argsort(-lengths[part], kind="stable")], lengths, max_texts, max_tokens
        )
    return [batches[b] for b in random.permutation(len(batches))]


def cut_batches(
    order: Sequence[int] | np.ndarray, lengths: np.ndarray, max_texts: int, max_tokens: int
) -> list[list[int]]:
    """Cut texts, in this order, into batches of at most `max_texts` texts and `max_tokens` words."""
    batches: list[list[int]] = []
    tokens = 0
    for text in order:
        # A text costs at least one position (its classification node), also when it is empty.
        cost = int(lengths[text]) + 1
        if not batches or len(batches[-1]) >= max_texts or tokens + cost > max_tokens:
            batches.append([])
            tokens = 0
        batches[-1].append(int(text))
        tokens += cost
    return batches
