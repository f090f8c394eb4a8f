"""Chains of tags, a sentence at a time: the best tags, and how probable each tag of a word is.

The score of the tags of a sentence is the sum of those of its words and of those from each tag to the next.
Loops in Numba, in 32 or 64 bits as the scores are.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from headwise.kernel import kernel
from headwise.linear.hashing import Ends

Floats = NDArray[Any]


@kernel()
def viterbi(emissions: Floats, ends: Ends, transitions: Floats) -> NDArray[np.int32]:
    """The numbers of the best tags, `[words]` (Viterbi 1967).

    Args:
        emissions: The scores of the tags of each word, `[words, tags]`.
        ends: Where each sentence begins and the last ends, `[sentences + 1]`.
        transitions: From tag to tag, `[tags, tags]`.
    """
    tags = emissions.shape[1]
    found = np.zeros(emissions.shape[0], dtype=np.int32)
    back = np.zeros(emissions.shape, dtype=np.int32)
    best = np.zeros(tags, dtype=emissions.dtype)
    for sentence in range(len(ends) - 1):
        start, end = ends[sentence], ends[sentence + 1]
        if start == end:
            continue
        best[:] = emissions[start]
        for word in range(start + 1, end):
            score = np.full(tags, -np.inf, dtype=emissions.dtype)
            for i in range(tags):
                for k in range(tags):
                    own = best[i] + transitions[i, k]
                    if own > score[k]:
                        score[k], back[word, k] = own, i
            best[:] = score + emissions[word]
        found[end - 1] = np.argmax(best)
        for word in range(end - 1, start, -1):
            found[word - 1] = back[word, found[word]]
    return found


@njit(nogil=True, fastmath={"reassoc", "contract", "nsz"})
def forward_backward(
    chances: Floats, moves: Floats, forward: Floats, backward: Floats, total: Floats
) -> None:
    """Of one sentence: forward and backward probabilities, whose product is that of a tag, and what was
    expected of the moves from tag to tag is added to `total` (but for `moves` itself).

    Args:
        chances: Exponents of the emissions, `[words, tags]`; changed.
        moves: Exponents of the transitions.
    """
    words, tags = chances.shape
    own = np.empty(tags, dtype=chances.dtype)
    for word in range(words):
        if word == 0:
            forward[0] = chances[0]
        else:
            own[:] = 0
            for i in range(tags):
                before = forward[word - 1, i]
                for k in range(tags):
                    own[k] += before * moves[i, k]
            for k in range(tags):
                forward[word, k] = own[k] * chances[word, k]
        scale = np.float32(0)
        for k in range(tags):
            scale += forward[word, k]
        scale = np.float32(1) / scale
        for k in range(tags):
            forward[word, k] *= scale
            chances[word, k] *= scale
    backward[words - 1] = 1
    for word in range(words - 2, -1, -1):
        for k in range(tags):
            own[k] = chances[word + 1, k] * backward[word + 1, k]
        for i in range(tags):
            value, before = np.float32(0), forward[word, i]
            for k in range(tags):
                value += moves[i, k] * own[k]
                total[i, k] += before * own[k]
            backward[word, i] = value


@njit(nogil=True)
def exponents(emissions: Floats) -> Floats:
    """Of the emissions, those of a word times what makes the largest 1; none is less than e to the -60."""
    found = np.empty_like(emissions)
    for word in range(emissions.shape[0]):
        highest = emissions[word].max()
        for k in range(emissions.shape[1]):
            found[word, k] = np.exp(max(emissions[word, k] - highest, np.float32(-60)))
    return found


@kernel()
def marginals(emissions: Floats, ends: Ends, transitions: Floats) -> Floats:
    """The probability of each tag of a word given its sentence, `[words, tags]`; see `viterbi`."""
    found = np.zeros_like(emissions)
    total = np.zeros_like(transitions)
    moves = np.exp(transitions)
    for sentence in range(len(ends) - 1):
        start, end = ends[sentence], ends[sentence + 1]
        if start == end:
            continue
        chances = exponents(emissions[start:end])
        backward = np.empty_like(chances)
        forward_backward(chances, moves, found[start:end], backward, total)
        found[start:end] *= backward
    return found
