"""Character n-grams of words, hashed (after Hashimoto, Xiong, Tsuruoka, Socher; EMNLP 2017: JMT)."""

from zlib import crc32

import numpy as np
from numpy.typing import NDArray

_BEGIN, _END = "\x02", "\x03"


def ngram_buckets(word: str, longest: int, buckets: int) -> NDArray[np.int64]:
    """Hash buckets of the distinct n-grams of a word, n from 1 to `longest`.

    As in JMT, n-grams of two and more also take in the ends of the word, and one that occurs twice counts
    once. The hash (CRC-32 of UTF-8) is the same on every machine.

    Args:
        word: The word.
        longest: Characters of the longest n-grams, 1 or more.
        buckets: Into how many the n-grams are spread.

    Returns:
        Numbers from 0 to `buckets - 1`, in an order that depends on the word alone, `[n-grams]`.
    """
    bounded = f"{_BEGIN}{word}{_END}"
    grams = dict.fromkeys(word)
    for n in range(2, longest + 1):
        grams.update(dict.fromkeys(bounded[at : at + n] for at in range(len(bounded) - n + 1)))
    # Texts from files may hold lone surrogates, which plain UTF-8 refuses.
    hashes = [crc32(gram.encode("utf-8", "surrogatepass")) % buckets for gram in grams]
    return np.array(hashes, dtype=np.int64)
