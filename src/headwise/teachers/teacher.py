"""What a teacher is: whatever gives texts probabilities of labels."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Update = Callable[[int, int], None]
"""Is told how many texts are read, and of how many."""


class Teacher(Protocol):
    """Gives texts probabilities of labels."""

    @property
    def name(self) -> str:
        """What to call it."""
        ...

    def learn(self, items: Sequence[Any], labels: Sequence[str]) -> Sequence[str]:
        """Learn from texts that people have labelled, where it is not ready.

        Args:
            items: Examples.
            labels: All labels that they have.

        Returns:
            The labels that it gives.
        """
        ...

    def knows(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Which texts it has an answer to, `[texts]`."""
        ...

    def probabilities(self, texts: Sequence[str], *, keep: bool = True) -> NDArray[np.float32]:
        """Probabilities of the labels, `[texts, labels]`.

        Args:
            texts: Such as it knows.
            keep: Whether these texts may be asked for again, in the same order.
        """
        ...
