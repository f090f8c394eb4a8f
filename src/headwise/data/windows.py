"""The windows in which a long text is read."""

from itertools import pairwise
from typing import NamedTuple


class Window(NamedTuple):
    """The words `start` to `stop` of a text, read for the states of those from `first` to `last`."""

    start: int
    stop: int
    first: int
    last: int


def cut_windows(length: int, words: int, overlap: int) -> list[Window]:
    """The windows of a text: as few as there can be, of the same size, evenly spread.

    Args:
        length: Words of the text.
        words: Most words in a window, at least 1.
        overlap: Words that neighbours share at least, less than `words`.
    """
    if length <= words:
        return [Window(0, length, 0, length)]
    count = -(-(length - overlap) // (words - overlap))
    size = -(-(length + (count - 1) * overlap) // count)
    starts = [(length - size) * number // (count - 1) for number in range(count)]
    # The middle of what two neighbours share.
    middles = [(one + size + other) // 2 for one, other in pairwise(starts)]
    borders = [0, *middles, length]
    return [
        Window(start, start + size, first, last)
        for start, (first, last) in zip(starts, pairwise(borders), strict=True)
    ]
