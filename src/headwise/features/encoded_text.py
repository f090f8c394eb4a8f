"""EncodedText: the model input for a text. This module does not import torch."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.features.bases.pieces import Pieces
from headwise.features.syntax import Heads


@dataclass(frozen=True, slots=True)
class EncodedText:
    """The model input for one text.

    Attributes:
        words: Word ids, int64 `[words]`.
        spelling: Further inputs of the embedding (word pieces, characters), if it reads any.
        heads: Dependency head of each word if the text is parsed, else None.
        cut: Number of words truncated at the end of the text.
        text: The original text; empty if only its words are known.
    """

    words: NDArray[np.int64]
    spelling: Any = None
    heads: Heads | None = None
    cut: int = 0
    text: str = ""

    def __len__(self) -> int:
        """Number of words."""
        return len(self.words)

    @property
    def unknown(self) -> int:
        """Number of out-of-vocabulary words (of a model with a base, of words that the base does not
        list)."""
        pieces = getattr(self.spelling, "pieces", self.spelling)  # taggers wrap them in `Spelled`
        return pieces.unknown if isinstance(pieces, Pieces) else int((self.words == 0).sum())

    @property
    def empty(self) -> bool:
        """Whether the text has no word."""
        return len(self.words) == 0
