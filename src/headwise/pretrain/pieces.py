"""Character n-grams of many words at once."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from headwise.features.bases.spelling import subwords


def runs_of(words: Sequence[str], buckets: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Hash buckets of the character n-grams of words, word after word, and the start of each word's
    n-grams, with the end, `[words + 1]`."""
    runs = [subwords(word, buckets) for word in words]
    starts = np.zeros(len(runs) + 1, np.int64)
    np.cumsum([len(word_runs) for word_runs in runs], out=starts[1:])
    return np.fromiter((run for word_runs in runs for run in word_runs), np.int64, int(starts[-1])), starts
