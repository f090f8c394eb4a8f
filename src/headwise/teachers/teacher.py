"""Teacher: the interface of the sources of soft labels for distillation."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Update = Callable[[int, int], None]
"""Progress callback: number of texts done, and their total."""


class Teacher(ABC):
    """A source of label probabilities for texts.

    Attributes:
        name: Display name.
        fingerprint: Hash of the teacher; teachers with the same hash give the same labels.
        notes: Messages for the user.
        texts: The texts that it can label; None if it labels any.
        seen: Fingerprint of its training set (`headwise.data.overlap.remember`), if known.
    """

    name: str
    fingerprint: str
    notes: Sequence[str] = ()
    texts: Sequence[str] | None = None
    seen: Any = None

    @abstractmethod
    def learn(self, items: Sequence[Any], labels: Sequence[str]) -> Sequence[str]:
        """Fit the teacher to texts labelled by people, if it needs that.

        Args:
            items: The labelled examples.
            labels: All labels of these.

        Returns:
            The labels that the teacher predicts.
        """

    def knows(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Whether it can label each text, `[texts]`."""
        return np.ones(len(texts), dtype=np.bool_)

    @abstractmethod
    def probabilities(self, texts: Sequence[str], *, keep: bool = True) -> NDArray[np.float32]:
        """The label probabilities of texts, `[texts, labels]`.

        Args:
            texts: Texts that it can label.
            keep: Whether to cache results, as the same texts may be requested again in the same order.
        """

    def weights(self, texts: Sequence[str]) -> Sequence[float]:
        """Weights of texts that it can label."""
        return [1.0] * len(texts)
