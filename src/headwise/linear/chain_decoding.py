"""Linear-chain decoding of sentences: the best tag sequence (Viterbi) and the marginal probability of each
tag (forward-backward).

The score of a tag sequence is the sum of the emission scores of its words and of the transition scores
between neighbouring tags. The loops are compiled by Numba, in 32 or 64 bits as the scores are.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from headwise.core.hashing import Ends
from headwise.core.numba_cache import compiled_kernel

AnyFloats = NDArray


@compiled_kernel()
def viterbi(emissions: AnyFloats, ends: Ends, transitions: AnyFloats) -> NDArray[np.int32]:
    """The indices of the best tag sequence of each sentence, `[words]` (Viterbi 1967).

    Args:
        emissions: The scores of the tags of each word, `[words, tags]`.
        ends: Offsets of the sentences, `[sentences + 1]`.
        transitions: Scores from tag to tag, `[tags, tags]`.
    """
    tags = emissions.shape[1]
    best_tags = np.zeros(emissions.shape[0], dtype=np.int32)
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
                    candidate = best[i] + transitions[i, k]
                    if candidate > score[k]:
                        score[k], back[word, k] = candidate, i
            best[:] = score + emissions[word]
        best_tags[end - 1] = np.argmax(best)
        for word in range(end - 1, start, -1):
            best_tags[word - 1] = back[word, best_tags[word]]
    return best_tags


@njit(nogil=True, fastmath={"reassoc", "contract", "nsz"})
def forward_backward(
    chances: AnyFloats, moves: AnyFloats, forward: AnyFloats, backward: AnyFloats, total: AnyFloats
) -> None:
    """Compute the forward and backward probabilities of one sentence; their product is the marginal of each
    tag. The expected transition counts are added to `total` (not yet multiplied by `moves`).

    Args:
        chances: Exponentials of the emissions, `[words, tags]`; changed in place.
        moves: Exponentials of the transitions, `[tags, tags]`.
    """
    words, tags = chances.shape
    message = np.empty(tags, dtype=chances.dtype)
    for word in range(words):
        if word == 0:
            forward[0] = chances[0]
        else:
            message[:] = 0
            for i in range(tags):
                before = forward[word - 1, i]
                for k in range(tags):
                    message[k] += before * moves[i, k]
            for k in range(tags):
                forward[word, k] = message[k] * chances[word, k]
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
            message[k] = chances[word + 1, k] * backward[word + 1, k]
        for i in range(tags):
            value, before = np.float32(0), forward[word, i]
            for k in range(tags):
                value += moves[i, k] * message[k]
                total[i, k] += before * message[k]
            backward[word, i] = value


@njit(nogil=True)
def exponents(emissions: AnyFloats) -> AnyFloats:
    """The exponentials of the emissions, `[words, tags]`, scaled so that the largest of each word is 1;
    none is less than exp(-60)."""
    scaled = np.empty_like(emissions)
    for word in range(emissions.shape[0]):
        highest = emissions[word].max()
        for k in range(emissions.shape[1]):
            scaled[word, k] = np.exp(max(emissions[word, k] - highest, np.float32(-60)))
    return scaled


@compiled_kernel()
def marginals(emissions: AnyFloats, ends: Ends, transitions: AnyFloats) -> AnyFloats:
    """The marginal probability of each tag of each word given its sentence, `[words, tags]`; see
    `viterbi`."""
    probabilities = np.zeros_like(emissions)
    total = np.zeros_like(transitions)
    moves = np.exp(transitions)
    for sentence in range(len(ends) - 1):
        start, end = ends[sentence], ends[sentence + 1]
        if start == end:
            continue
        chances = exponents(emissions[start:end])
        backward = np.empty_like(chances)
        forward_backward(chances, moves, probabilities[start:end], backward, total)
        probabilities[start:end] *= backward
    return probabilities
