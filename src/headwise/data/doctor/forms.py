"""The best cut of each number of the form of texts (their length, capitals, line ends ...) for a label."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Cut(NamedTuple):
    """Items on one side of a cut.

    `said` is what they have in common, `both` how many have the label too, and `of` how many they are.
    """

    said: str
    both: int
    of: int


class Forms:
    """The form of texts, each number in order.

    Args:
        texts: The texts.
    """

    def __init__(self, texts: Sequence[str]):
        from headwise.linear.form import form_of, said_of  # Numba takes its time to load

        numbers = form_of(texts).T
        self._orders = np.argsort(numbers, axis=1, kind="stable")
        self._numbers = np.take_along_axis(numbers, self._orders, axis=1)
        self._said = said_of

    def cuts(self, labelled: NDArray[np.bool_]) -> Iterator[Cut]:
        """Of each number the two sides of cuts with the fewest exceptions.

        Args:
            labelled: Which of the texts have the label.
        """
        size = int(labelled.sum())
        for number, (order, values) in enumerate(zip(self._orders, self._numbers, strict=True)):
            last = np.flatnonzero(values[1:] != values[:-1])
            if not len(last):
                continue
            below, both = last + 1, np.cumsum(labelled[order])[last]
            exceptions = below + size - 2 * both  # of those below; of those above all others are
            place, other = int(exceptions.argmin()), int(exceptions.argmax())
            at, then = float(values[last[place]]), float(values[last[other] + 1])
            yield Cut(self._said(number, at, below=True), int(both[place]), int(below[place]))
            above = len(order) - int(below[other])
            yield Cut(self._said(number, then, below=False), size - int(both[other]), above)
