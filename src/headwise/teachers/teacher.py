"""Teacher: what gives texts probabilities of labels."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Update = Callable[[int, int], None]
"""Is told how many texts are read, and of how many."""


class Teacher(ABC):
    """Gives texts probabilities of labels.

    Attributes:
        name: What to call it.
        fingerprint: Another one may say something else.
        notes: What there is to tell of it.
        texts: Those that it brings along; None where it reads any.
        seen: What tells which texts it has learnt from (`headwise.data.overlap.remember`), if it is known.
    """

    name: str
    fingerprint: str
    notes: Sequence[str] = ()
    texts: Sequence[str] | None = None
    seen: Any = None

    @abstractmethod
    def learn(self, items: Sequence[Any], labels: Sequence[str]) -> Sequence[str]:
        """Learn from texts that people have labelled, where it is not ready.

        Args:
            items: Examples.
            labels: All labels that they have.

        Returns:
            The labels that it gives.
        """

    def knows(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Which texts it has an answer to, `[texts]`."""
        return np.ones(len(texts), dtype=np.bool_)

    @abstractmethod
    def probabilities(self, texts: Sequence[str], *, keep: bool = True) -> NDArray[np.float32]:
        """Probabilities of the labels, `[texts, labels]`.

        Args:
            texts: Such as it knows.
            keep: Whether these texts may be asked for again, in the same order.
        """

    def weights(self, texts: Sequence[str]) -> Sequence[float]:
        """How much each of the texts that it knows counts."""
        return [1.0] * len(texts)
