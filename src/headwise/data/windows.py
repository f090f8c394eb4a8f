"""Overlapping windows over a long text."""

from itertools import pairwise
from typing import NamedTuple


class Window(NamedTuple):
    """A window over the words `start` to `stop` of a text, whose states are used for the words `first` to
    `last` (ends exclusive)."""

    start: int
    stop: int
    first: int
    last: int


def cut_windows(length: int, words: int, overlap: int) -> list[Window]:
    """The fewest possible windows over a text, of equal size and evenly spread.

    Args:
        length: The number of words of the text.
        words: The largest number of words in a window, at least 1.
        overlap: The least number of words that neighbouring windows share, less than `words`.
    """
    if length <= words:
        return [Window(0, length, 0, length)]
    count = -(-(length - overlap) // (words - overlap))
    size = -(-(length + (count - 1) * overlap) // count)
    starts = [(length - size) * number // (count - 1) for number in range(count)]
    # The middles of the overlaps of neighbouring windows.
    middles = [(left + size + right) // 2 for left, right in pairwise(starts)]
    borders = [0, *middles, length]
    return [
        Window(start, start + size, first, last)
        for start, (first, last) in zip(starts, pairwise(borders), strict=True)
    ]
