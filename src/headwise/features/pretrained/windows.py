"""Windows: how texts of any length are read by an encoder that takes so many pieces and no more."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from headwise.data.windows import Window

_CELLS = 16_384  # most pieces, padding included, that are read in one call


def windows(words: NDArray[np.int32], room: int, overlap: int) -> list[Window]:
    """The windows in which a text is read, in pieces. Every piece is asked for once.

    A window is asked for whole words, with at least half the overlap of context on either side, except at
    the ends of the text. Only a word that does not fit into a window is cut.

    Args:
        words: The word of each piece, `[pieces]`, never falling.
        room: Most pieces in a window.
        overlap: Pieces that neighbouring windows share at least, less than `room`.
    """
    total, context = len(words), overlap // 2
    found: list[Window] = []
    first = 0
    while True:
        start = max(0, first - context)
        if start + room >= total:
            return [*found, Window(max(0, total - room), total, first, total)]
        last = start + room - context
        start_of_word = int(np.searchsorted(words, words[last]))
        if start_of_word > first:
            last = start_of_word
        found.append(Window(start, start + room, first, last))
        first = last


def groups(sizes: Sequence[int]) -> Iterator[list[int]]:
    """Numbers of windows that may be padded to the same size, the largest first; none of size 0."""
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
