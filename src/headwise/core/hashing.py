"""32-bit hashes of words, word pairs and character n-grams, and their counts per text.

A feature is identified by its hash alone, so a saved model needs no strings. With 200,000 features among
2**32 hashes, one unknown feature in 20,000 collides with a known one.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from headwise.core import native

Codes = NDArray[np.uint32]
Ends = NDArray[np.int64]

SEPARATOR = "\x1f"
"""Separates the words in the input of `word_hashes`."""


def joined_code_points(texts: Sequence[str]) -> tuple[Codes, Ends]:
    """The concatenated code points of texts, and their offsets, `[texts + 1]`."""
    ends = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum([len(text) for text in texts], out=ends[1:])
    encoded = "".join(texts).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(encoded, dtype=np.uint32), ends


def word_hashes(
    codes: Codes, ends: Ends, reach: int = 1, edges: bool = False
) -> tuple[NDArray[np.uint32], Ends]:
    """Hashes of each word, and of each pair that it forms with one of the `reach` words before it. Pairs of
    neighbours differ from pairs further apart; the exact distance of the latter does not count.

    Args:
        codes: Code points of texts whose words are separated by `SEPARATOR`.
        ends: Offsets of the texts, `[texts + 1]`.
        reach: Maximum distance between the words of a pair.
        edges: Whether words also form pairs with the beginning of their text, as if it were a word, and
            (last) with its end.

    Returns:
        The hashes, and their offsets per text, `[texts + 1]`.
    """
    return native.word_hashes(codes, ends, reach, edges)


def word_hash_states(words: Sequence[str]) -> NDArray[np.uint64]:
    """The states of words, from which `read_hashes` makes their hashes and those of pairs, `[words]`."""
    return native.word_states(*joined_code_points(words))


def read_hashes(
    states: NDArray[np.uint64], words: NDArray[np.int32], ends: Ends, reach: int = 1, edges: bool = False
) -> tuple[NDArray[np.uint32], Ends]:
    """What `word_hashes` returns, for texts whose words are numbered.

    Args:
        states: The states of the different words, see `word_hash_states`.
        words: Numbers of the words of all texts, `[total]`.
        ends: Offsets of the texts, `[texts + 1]`.
        reach: See `word_hashes`.
        edges: See `word_hashes`.
    """
    return native.read_hashes(states, words, ends, reach, edges)


def character_hashes(codes: Codes, ends: Ends, least: int, most: int) -> tuple[NDArray[np.uint32], Ends]:
    """Hashes of the character n-grams, n from `least` to `most`, inside words padded with one blank on
    either side.

    The n-grams are those of scikit-learn's `char_wb`: words are separated by whitespace, and a padded word
    that is shorter than n counts once as a whole.

    Returns:
        The hashes, and their offsets per text, `[texts + 1]`.
    """
    return native.character_hashes(codes, ends, least, most)


def table_of(keys: NDArray[np.uint32], capacity: int) -> NDArray[np.uint64]:
    """Build an open-addressing hash table from keys to their indices. An entry is `key << 32 | index + 1`;
    0 is free. `capacity` is a power of two, larger than the number of keys."""
    return native.table_of(keys, capacity)


def roomy_table_of(keys: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """`table_of` with a load factor of at most a quarter."""
    return table_of(keys, 1 << max(4 * len(keys) - 1, 1).bit_length())


def count_features(
    hashes: NDArray[np.uint32], bounds: Ends, slots: NDArray[np.uint64], size: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], Ends]:
    """Count the features of a hash table with `size` keys in each text.

    Returns:
        Feature indices, text by text in order of appearance; their counts; and offsets, `[texts + 1]`.
    """
    return native.count_features(hashes, bounds, slots, size)


def add_keys(
    hashes: NDArray[np.uint32], start: int, slots: NDArray[np.uint64], keys: NDArray[np.uint32], count: int
) -> tuple[int, int]:
    """Insert hashes from `start` on into a table and a list of keys, until the table is half full.

    Returns:
        The number of hashes read, and the number of keys.
    """
    return native.add_keys(hashes, start, slots, keys, count)


def keep_features(
    features: NDArray[np.int32], counts: NDArray[np.int32], ends: Ends, new: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32], Ends]:
    """Renumber the features of counts by `new`, and drop those that are -1 there; in place."""
    place, bounds = native.keep_features(features, counts, ends, new)
    return features[:place], counts[:place], bounds


def tfidf_values(
    features: NDArray[np.int32], counts: NDArray[np.int32], ends: Ends, idf: NDArray[np.float32]
) -> NDArray[np.float32]:
    """TF-IDF values with logarithmic counts, scaled to length 1 per text."""
    return native.tfidf_values(features, counts, ends, idf)
