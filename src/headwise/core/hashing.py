"""32-bit hashes of words, word pairs and character n-grams, and their counts per text; in Numba.

A feature is identified by its hash alone, so a saved model needs no strings. With 200,000 features among
2**32 hashes, one unknown feature in 20,000 collides with a known one.
"""

from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray

from headwise.core.numba_cache import compiled_kernel

Codes = NDArray[np.uint32]
Ends = NDArray[np.int64]

SEPARATOR = "\x1f"
"""Separates the words in the input of `word_hashes`."""

_SEPARATOR = np.uint32(ord(SEPARATOR))
_FIRST = np.uint64(0x9E3779B97F4A7C15)
_SECOND = np.uint64(0xBF58476D1CE4E5B9)
_THIRD = np.uint64(0x94D049BB133111EB)
_BEGIN, _END = np.uint64(0xD6E8FEB86659FD93), np.uint64(0xA0761D6478BD642F)


def code_points(texts: Sequence[str]) -> tuple[Codes, Ends]:
    """The concatenated code points of texts, and their offsets, `[texts + 1]`."""
    ends = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum([len(text) for text in texts], out=ends[1:])
    encoded = "".join(texts).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(encoded, dtype=np.uint32), ends


@njit(inline="always")
def _mix(number):
    """Every bit of the result depends on every bit of the number (the finalizer of SplitMix64)."""
    number = (number ^ (number >> np.uint64(30))) * _SECOND
    number = (number ^ (number >> np.uint64(27))) * _THIRD
    return number ^ (number >> np.uint64(31))


@compiled_kernel()
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
    most = (reach + 1) * (len(codes) + len(ends)) // 2 + 1 + edges * reach * len(ends)
    hashes = np.empty(most, dtype=np.uint32)
    before = np.zeros(reach, dtype=np.uint64)  # the previous words, the last one first; 0 is none
    bounds = np.zeros(len(ends), dtype=np.int64)
    place = 0
    for text in range(len(ends) - 1):
        before[:] = 0
        if edges:
            before[0] = _BEGIN
        word, length = _FIRST, 0
        for position in range(ends[text], ends[text + 1] + 1):
            if position < ends[text + 1] and codes[position] != _SEPARATOR:
                word = (word ^ np.uint64(codes[position])) * _SECOND
                word ^= word >> np.uint64(29)
                length += 1
            elif length > 0:
                word = _mix(word)
                hashes[place] = np.uint32(word >> np.uint64(32))
                place += 1
                for gap in range(reach):
                    if before[gap] != 0:
                        pair = _mix(before[gap] * (_THIRD if gap else _FIRST) + word)
                        hashes[place] = np.uint32(pair >> np.uint64(32))
                        place += 1
                for gap in range(reach - 1, 0, -1):
                    before[gap] = before[gap - 1]
                before[0] = word
                word, length = _FIRST, 0
        for gap in range(reach if edges else 0):
            if before[gap] != 0 and before[gap] != _BEGIN:
                pair = _mix(before[gap] * (_THIRD if gap else _FIRST) + _END)
                hashes[place] = np.uint32(pair >> np.uint64(32))
                place += 1
        bounds[text + 1] = place
    return hashes[:place], bounds


@njit(inline="always")
def is_blank(code):
    """Whether `str.isspace` holds."""
    if code < 0x80:
        return code == 32 or 9 <= code <= 13 or 28 <= code <= 31
    if code < 0x1680:
        return code == 0x85 or code == 0xA0
    return (
        code == 0x1680
        or 0x2000 <= code <= 0x200A
        or code == 0x2028
        or code == 0x2029
        or code == 0x202F
        or code == 0x205F
        or code == 0x3000
    )


@compiled_kernel()
def character_hashes(codes: Codes, ends: Ends, least: int, most: int) -> tuple[NDArray[np.uint32], Ends]:
    """Hashes of the character n-grams, n from `least` to `most`, inside words padded with one blank on
    either side.

    The n-grams are those of scikit-learn's `char_wb`: words are separated by whitespace, and a padded word
    that is shorter than n counts once as a whole.

    Returns:
        The hashes, and their offsets per text, `[texts + 1]`.
    """
    hashes = np.empty((len(codes) + 2 * len(ends)) * (most - least + 1) * 2, dtype=np.uint32)
    bounds = np.zeros(len(ends), dtype=np.int64)
    place = 0
    for text in range(len(ends) - 1):
        start, end = ends[text], ends[text + 1]
        position = start
        while position < end:
            if is_blank(codes[position]):
                position += 1
                continue
            first = position
            while position < end and not is_blank(codes[position]):
                position += 1
            size = position - first + 2  # with a blank on either side
            for begin in range(size):
                run = _THIRD
                longest = min(most, size - begin)
                for length in range(1, longest + 1):
                    at = begin + length - 1
                    code = np.uint64(32)
                    if 0 < at < size - 1:
                        code = np.uint64(codes[first + at - 1])
                    run = (run ^ code) * _SECOND
                    run ^= run >> np.uint64(29)
                    if length >= least or (begin == 0 and length == size):
                        hashes[place] = np.uint32(_mix(run + np.uint64(length)) >> np.uint64(32))
                        place += 1
        bounds[text + 1] = place
    return hashes[:place], bounds


@njit(inline="always")
def find_slot(key, slots: NDArray[np.uint64]):
    """The slot of a key in an open-addressing hash table, or the free slot where it would go. An entry is
    `key << 32 | index + 1`; 0 is free."""
    mask = np.uint64(len(slots) - 1)
    place = (np.uint64(key) * _FIRST >> np.uint64(20)) & mask
    while slots[place] != 0 and np.uint32(slots[place] >> np.uint64(32)) != key:
        place = (place + np.uint64(1)) & mask
    return np.int64(place)


@compiled_kernel()
def table_of(keys: NDArray[np.uint32], capacity: int) -> NDArray[np.uint64]:
    """Build an open-addressing hash table from keys to their indices. `capacity` is a power of two, larger
    than the number of keys."""
    slots = np.zeros(capacity, dtype=np.uint64)
    for number in range(len(keys)):
        place = find_slot(keys[number], slots)
        slots[place] = np.uint64(keys[number]) << np.uint64(32) | np.uint64(number + 1)
    return slots


def roomy_table_of(keys: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """`table_of` with a load factor of at most a quarter."""
    return table_of(keys, 1 << max(4 * len(keys) - 1, 1).bit_length())


@compiled_kernel()
def count_features(
    hashes: NDArray[np.uint32], bounds: Ends, slots: NDArray[np.uint64], size: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], Ends]:
    """Count the features of a hash table with `size` keys in each text.

    Returns:
        Feature indices, text by text in order of appearance; their counts; and offsets, `[texts + 1]`.
    """
    features = np.empty(len(hashes), dtype=np.int32)
    counts = np.empty(len(hashes), dtype=np.int32)
    ends = np.zeros(len(bounds), dtype=np.int64)
    last = np.full(size, -1, dtype=np.int64)
    place = 0
    for text in range(len(bounds) - 1):
        for position in range(bounds[text], bounds[text + 1]):
            entry = slots[find_slot(hashes[position], slots)]
            if entry == 0:
                continue
            feature = np.int64(entry & np.uint64(0xFFFFFFFF)) - 1
            if last[feature] >= ends[text]:
                counts[last[feature]] += 1
            else:
                last[feature] = place
                features[place], counts[place] = feature, 1
                place += 1
        ends[text + 1] = place
    return features[:place], counts[:place], ends


@compiled_kernel()
def add_keys(
    hashes: NDArray[np.uint32], start: int, slots: NDArray[np.uint64], keys: NDArray[np.uint32], count: int
) -> tuple[int, int]:
    """Insert hashes from `start` on into a table and a list of keys, until the table is half full.

    Returns:
        The number of hashes read, and the number of keys.
    """
    most = min(len(slots) // 2, len(keys))
    for position in range(start, len(hashes)):
        key = hashes[position]
        place = find_slot(key, slots)
        if slots[place] == 0:
            if count >= most:
                return position, count
            keys[count] = key
            count += 1
            slots[place] = np.uint64(key) << np.uint64(32) | np.uint64(count)
    return len(hashes), count


@compiled_kernel()
def keep_features(
    features: NDArray[np.int32], counts: NDArray[np.int32], ends: Ends, new: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32], Ends]:
    """Renumber the features of counts by `new`, and drop those that are -1 there; in place."""
    place = 0
    bounds = np.zeros(len(ends), dtype=np.int64)
    for text in range(len(ends) - 1):
        for position in range(ends[text], ends[text + 1]):
            feature = new[features[position]]
            if feature >= 0:
                features[place], counts[place] = feature, counts[position]
                place += 1
        bounds[text + 1] = place
    return features[:place], counts[:place], bounds


@compiled_kernel()
def tfidf_values(
    features: NDArray[np.int32], counts: NDArray[np.int32], ends: Ends, idf: NDArray[np.float32]
) -> NDArray[np.float32]:
    """TF-IDF values with logarithmic counts, scaled to length 1 per text."""
    values = np.empty(len(features), dtype=np.float32)
    logarithms = np.log(np.arange(1, 1025).astype(np.float64)) + 1
    for text in range(len(ends) - 1):
        total = 0.0
        for position in range(ends[text], ends[text + 1]):
            count = counts[position]
            often = logarithms[count - 1] if count <= 1024 else np.log(float(count)) + 1
            value = often * idf[features[position]]
            values[position] = value
            total += value * value
        scale = 1 / np.sqrt(total) if total > 0 else 0.0
        for position in range(ends[text], ends[text + 1]):
            values[position] *= scale
    return values
