"""Pieces: what the words of a text are made of, as a base sees them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headwise.features.bases.base import Base


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """The words of a text, each the mean of some vectors.

    Attributes:
        rows: Numbers of the vectors, one word after the other, int32.
        lengths: How many each word has, `[words]`, int32.
        weights: Of the words, `[words]`, float32.
        unknown: How many words are not listed, in no spelling.
    """

    rows: NDArray[np.int32]
    lengths: NDArray[np.int32]
    weights: NDArray[np.float32]
    unknown: int = 0

    def __len__(self) -> int:
        """Number of words."""
        return len(self.lengths)

    @classmethod
    def of(cls, base: Base, words: Sequence[str]) -> "Pieces":
        """Those of a text."""
        found = [base.piece(word) for word in words]
        return cls(
            np.array([row for piece in found for row in piece.rows], dtype=np.int32),
            np.array([len(piece.rows) for piece in found], dtype=np.int32),
            np.array([piece.weight for piece in found], dtype=np.float32),
            sum(piece.rows[-1] >= len(base.words) for piece in found),
        )

    @classmethod
    def together(cls, texts: Sequence["Pieces"]) -> "Pieces":
        """Those of several texts, one after the other."""
        if not texts:
            return cls(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.float32))
        return cls(
            np.concatenate([text.rows for text in texts]),
            np.concatenate([text.lengths for text in texts]),
            np.concatenate([text.weights for text in texts]),
        )
