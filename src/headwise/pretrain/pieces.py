"""The runs of letters of many words at once."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from headwise.features.bases.spelling import subwords


def runs_of(words: Sequence[str], buckets: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The buckets of the runs of letters of words, one behind the other, and where each word's begin, with
    the end of the last, `[words + 1]`."""
    runs = [subwords(word, buckets) for word in words]
    starts = np.zeros(len(runs) + 1, np.int64)
    np.cumsum([len(own) for own in runs], out=starts[1:])
    return np.fromiter((run for own in runs for run in own), np.int64, int(starts[-1])), starts
