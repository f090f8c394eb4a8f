"""Overlapping windows, for texts longer than an encoder's maximum input."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from headwise.data.windows import Window

_CELLS = 16_384  # maximum number of pieces per call, padding included


def windows(words: NDArray[np.int32], room: int, overlap: int) -> list[Window]:
    """The windows of a text, in pieces. The output of each piece comes from exactly one window.

    A window outputs whole words, with at least half the overlap as context on either side, except at the
    ends of the text. Only a word that does not fit into a window is cut.

    Args:
        words: The word of each piece, `[pieces]`, ascending.
        room: Maximum number of pieces in a window.
        overlap: Minimum number of pieces that adjacent windows share, less than `room`.
    """
    total, context = len(words), overlap // 2
    spans: list[Window] = []
    first = 0
    while True:
        start = max(0, first - context)
        if start + room >= total:
            return [*spans, Window(max(0, total - room), total, first, total)]
        last = start + room - context
        start_of_word = int(np.searchsorted(words, words[last]))
        if start_of_word > first:
            last = start_of_word
        spans.append(Window(start, start + room, first, last))
        first = last


def groups(sizes: Sequence[int]) -> Iterator[list[int]]:
    """Batches of window indices with similar sizes, the largest first, without windows of size 0."""
    group: list[int] = []
    for number in sorted(range(len(sizes)), key=lambda n: -sizes[n]):
        if sizes[number] == 0:
            break
        longest = sizes[group[0]] if group else 0
        full = (len(group) + 1) * longest > _CELLS or longest - sizes[number] > max(8, longest // 8)
        if group and full:
            yield group
            group = []
        group.append(number)
    if group:
        yield group
