"""Words, word pairs and characters of texts as numbers of 32 bits, and how often each text has them; in
Numba.

A feature is known by its hash alone, so that a saved model needs no strings. Among 200,000 features of
2**32 possible numbers, one unknown feature in 20,000 is taken for a known one.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from headwise.kernel import kernel

Codes = NDArray[np.uint32]
Ends = NDArray[np.int64]

SEPARATOR = "\x1f"
"""Stands between the words of `word_hashes`."""

_SEPARATOR = np.uint32(ord(SEPARATOR))
_FIRST = np.uint64(0x9E3779B97F4A7C15)
_SECOND = np.uint64(0xBF58476D1CE4E5B9)
_THIRD = np.uint64(0x94D049BB133111EB)
_BEGIN, _END = np.uint64(0xD6E8FEB86659FD93), np.uint64(0xA0761D6478BD642F)


def codes_of(texts: Sequence[str]) -> tuple[Codes, Ends]:
    """The code points of texts, one after the other, and where each begins and the last ends,
    `[texts + 1]`."""
    ends = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum([len(text) for text in texts], out=ends[1:])
    encoded = "".join(texts).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(encoded, dtype=np.uint32), ends


@njit(inline="always")
def _mix(number: Any) -> Any:
    """Every bit of the result depends on every bit of the number (the finalizer of SplitMix64)."""
    number = (number ^ (number >> np.uint64(30))) * _SECOND
    number = (number ^ (number >> np.uint64(27))) * _THIRD
    return number ^ (number >> np.uint64(31))


@kernel()
def word_hashes(
    codes: Codes, ends: Ends, reach: int = 1, edges: bool = False
) -> tuple[NDArray[np.uint32], Ends]:
    """A number for each word, and for each pair that it makes with the word before, with the one before
    that, and so on. Whether the words of a pair are neighbours counts, how far apart others are does not.

    Args:
        codes: Code points of texts whose words are separated by `SEPARATOR`.
        ends: Where the texts begin and end.
        reach: How far apart the words of a pair are at most.
        edges: Words make pairs with the beginning of their text too, as if that were a word, and, behind
            all others, with its end.

    Returns:
        The numbers, and where those of each text begin and end.
    """
    most = (reach + 1) * (len(codes) + len(ends)) // 2 + 1 + edges * reach * len(ends)
    found = np.empty(most, dtype=np.uint32)
    before = np.zeros(reach, dtype=np.uint64)  # the words, the last one first; 0 is none
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
                found[place] = np.uint32(word >> np.uint64(32))
                place += 1
                for gap in range(reach):
                    if before[gap] != 0:
                        pair = _mix(before[gap] * (_THIRD if gap else _FIRST) + word)
                        found[place] = np.uint32(pair >> np.uint64(32))
                        place += 1
                for gap in range(reach - 1, 0, -1):
                    before[gap] = before[gap - 1]
                before[0] = word
                word, length = _FIRST, 0
        for gap in range(reach if edges else 0):
            if before[gap] != 0 and before[gap] != _BEGIN:
                pair = _mix(before[gap] * (_THIRD if gap else _FIRST) + _END)
                found[place] = np.uint32(pair >> np.uint64(32))
                place += 1
        bounds[text + 1] = place
    return found[:place], bounds


@njit(inline="always")
def is_blank(code: Any) -> bool:
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


@kernel()
def character_hashes(codes: Codes, ends: Ends, least: int, most: int) -> tuple[NDArray[np.uint32], Ends]:
    """A number for each run of `least` to `most` characters inside a word with a blank on either side.

    They are those of scikit-learn's `char_wb`: words are what whitespace separates, and one that is shorter
    than a run (with its blanks) counts once as a whole.

    Returns:
        The numbers, and where those of each text begin and end.
    """
    found = np.empty((len(codes) + 2 * len(ends)) * (most - least + 1) * 2, dtype=np.uint32)
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
                        found[place] = np.uint32(_mix(run + np.uint64(length)) >> np.uint64(32))
                        place += 1
        bounds[text + 1] = place
    return found[:place], bounds


@njit(inline="always")
def slot_of(key: Any, slots: NDArray[np.uint64]) -> Any:
    """Where the key is in an open table, or would be: an entry is `key << 32 | number + 1`, 0 is none."""
    mask = np.uint64(len(slots) - 1)
    place = (np.uint64(key) * _FIRST >> np.uint64(20)) & mask
    while slots[place] != 0 and np.uint32(slots[place] >> np.uint64(32)) != key:
        place = (place + np.uint64(1)) & mask
    return np.int64(place)


@kernel()
def table_of(keys: NDArray[np.uint32], capacity: int) -> NDArray[np.uint64]:
    """An open table of keys, each with its place in the list; `capacity` is a power of two, larger than the
    number of keys."""
    slots = np.zeros(capacity, dtype=np.uint64)
    for number in range(len(keys)):
        place = slot_of(keys[number], slots)
        slots[place] = np.uint64(keys[number]) << np.uint64(32) | np.uint64(number + 1)
    return slots


def roomy_table_of(keys: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """The same, at most a quarter full."""
    return table_of(keys, 1 << max(4 * len(keys) - 1, 1).bit_length())


@kernel()
def count_known(
    hashes: NDArray[np.uint32], bounds: Ends, slots: NDArray[np.uint64], size: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], Ends]:
    """How often each text has each feature of a table with `size` keys.

    Returns:
        The features of one text after the other, as they come, how often they do, and where those of each
        text begin and end.
    """
    features = np.empty(len(hashes), dtype=np.int32)
    counts = np.empty(len(hashes), dtype=np.int32)
    ends = np.zeros(len(bounds), dtype=np.int64)
    last = np.full(size, -1, dtype=np.int64)
    place = 0
    for text in range(len(bounds) - 1):
        for position in range(bounds[text], bounds[text + 1]):
            entry = slots[slot_of(hashes[position], slots)]
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


@kernel()
def add_keys(
    hashes: NDArray[np.uint32], start: int, slots: NDArray[np.uint64], keys: NDArray[np.uint32], known: int
) -> tuple[int, int]:
    """Put hashes from `start` on into a table and a list of keys, until the table is half full.

    Returns:
        How many hashes have been read, and how many keys there are.
    """
    most = min(len(slots) // 2, len(keys))
    for position in range(start, len(hashes)):
        key = hashes[position]
        place = slot_of(key, slots)
        if slots[place] == 0:
            if known >= most:
                return position, known
            keys[known] = key
            known += 1
            slots[place] = np.uint64(key) << np.uint64(32) | np.uint64(known)
    return len(hashes), known


@kernel()
def keep_features(
    features: NDArray[np.int32], counts: NDArray[np.int32], ends: Ends, new: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32], Ends]:
    """Counts with features renumbered by `new`, without those that are -1 there; in place."""
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


@kernel()
def weigh(
    features: NDArray[np.int32], counts: NDArray[np.int32], ends: Ends, idf: NDArray[np.float32]
) -> NDArray[np.float32]:
    """TF-IDF with logarithmic counts, the features of each text of length 1 together."""
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
