"""The best threshold of each surface feature of texts (length, capitals, line ends, ...) for a label."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Cut(NamedTuple):
    """The items on one side of a threshold.

    `description` is what they have in common, `both` how many of them have the label, and `of` how many
    they are.
    """

    description: str
    both: int
    of: int


class Forms:
    """Surface features of texts, each in sorted order.

    Args:
        texts: The texts.
    """

    def __init__(self, texts: Sequence[str]):
        from headwise.linear.form import form_of, said_of  # Numba takes its time to load

        numbers = form_of(texts).T
        self._orders = np.argsort(numbers, axis=1, kind="stable")
        self._numbers = np.take_along_axis(numbers, self._orders, axis=1)
        self._describe = said_of

    def cuts(self, labelled: NDArray[np.bool_]) -> Iterator[Cut]:
        """For each feature, the two sides (below, above) of the thresholds with the fewest exceptions.

        Args:
            labelled: Whether each text has the label, `[texts]`.
        """
        size = int(labelled.sum())
        for number, (order, values) in enumerate(zip(self._orders, self._numbers, strict=True)):
            last = np.flatnonzero(values[1:] != values[:-1])
            if not len(last):
                continue
            below, both = last + 1, np.cumsum(labelled[order])[last]
            # Of the lower side; all other items are exceptions of the upper side.
            exceptions = below + size - 2 * both
            place, above_place = int(exceptions.argmin()), int(exceptions.argmax())
            at, then = float(values[last[place]]), float(values[last[above_place] + 1])
            yield Cut(self._describe(number, at, below=True), int(both[place]), int(below[place]))
            above = len(order) - int(below[above_place])
            yield Cut(self._describe(number, then, below=False), size - int(both[above_place]), above)
