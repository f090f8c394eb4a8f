"""Linear-chain decoding of sentences: the best tag sequence (Viterbi) and the marginal probability of each
tag (forward-backward).

The score of a tag sequence is the sum of the emission scores of its words and of the transition scores
between neighbouring tags. Scores have 32 or 64 bits.
"""

from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from headwise.core import native
from headwise.core.hashing import Ends

Number = TypeVar("Number", np.float32, np.float64)


def viterbi(emissions: NDArray[Number], ends: Ends, transitions: NDArray[Number]) -> NDArray[np.int32]:
    """The indices of the best tag sequence of each sentence, `[words]` (Viterbi 1967).

    Args:
        emissions: The scores of the tags of each word, `[words, tags]`.
        ends: Offsets of the sentences, `[sentences + 1]`.
        transitions: Scores from tag to tag, `[tags, tags]`.
    """
    return native.viterbi(*_contiguous(emissions, transitions, ends))


def marginals(emissions: NDArray[Number], ends: Ends, transitions: NDArray[Number]) -> NDArray[Number]:
    """The marginal probability of each tag of each word given its sentence, `[words, tags]`; see
    `viterbi`."""
    return cast(NDArray[Number], native.marginals(*_contiguous(emissions, transitions, ends)))


def _contiguous(
    emissions: NDArray[Number], transitions: NDArray[Number], ends: Ends
) -> tuple[NDArray[np.float32], NDArray[np.float32], Ends]:
    """The arguments of the kernels, which take either precision; the types name one of them."""
    scores = np.ascontiguousarray(emissions), np.ascontiguousarray(transitions)
    return cast(tuple[NDArray[np.float32], NDArray[np.float32], Ends], (*scores, ends))
