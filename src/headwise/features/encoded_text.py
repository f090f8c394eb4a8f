"""What a model reads of a text: a record for each. Nothing here imports torch."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.features.bases.pieces import Pieces
from headwise.features.syntax import Heads


@dataclass(frozen=True, slots=True)
class EncodedText:
    """What a model reads of one text.

    Attributes:
        words: Numbers of its words in the vocabulary, `[words]`, int64.
        spelling: What the embedding reads of the words beside their numbers (word pieces), if it does.
        heads: The head of each word in the dependency tree, where the text is parsed; else None.
        cut: How many words at the end of the text are left out.
        text: As it was given; empty if only its words are known.
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
        """How many of its words the vocabulary does not know, nor a base, where there is one."""
        pieces = getattr(self.spelling, "pieces", self.spelling)  # beside which a tagger keeps the words
        return pieces.unknown if isinstance(pieces, Pieces) else int((self.words == 0).sum())

    @property
    def empty(self) -> bool:
        """Whether it has no word."""
        return len(self.words) == 0
