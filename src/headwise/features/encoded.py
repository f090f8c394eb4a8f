"""What a model reads of texts: one record for each text, and batches of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from headwise.features.bases.pieces import Pieces
from headwise.features.syntax import Heads, distances_within
from headwise.ragged import Layout, Ragged


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


@dataclass(frozen=True)
class Batch:
    """Some texts as an embedding reads them.

    Attributes:
        words: Their word numbers, `[total]`, int64. The layout has the distances in the dependency trees
            and the heads if all texts are parsed.
        spelling: That of each text (see `EncodedText`).
        compared: Of pairs, that of each (see `headwise.features.encoded_pairs`), `[pairs, size]`, if all
            have it.
    """

    words: Ragged
    spelling: tuple[Any, ...]
    compared: Tensor | None = None

    @property
    def layout(self) -> Layout:
        return self.words.layout


def batch_of(texts: Sequence[EncodedText], device: torch.device | str = "cpu") -> Batch:
    """Some encoded texts as one batch."""
    flat = np.concatenate([text.words for text in texts]) if texts else np.zeros(0, dtype=np.int64)
    heads = [text.heads for text in texts if text.heads is not None]
    if heads and len(heads) == len(texts):
        layout = parsed_layout(heads, device)
    else:
        layout = Layout([len(text) for text in texts], device)
    words = Ragged(torch.from_numpy(flat).to(device), layout)
    return Batch(words, tuple(text.spelling for text in texts))


def parsed_layout(heads: Sequence[Heads], device: torch.device | str = "cpu") -> Layout:
    """The layout of texts with these heads, and with the distances in their trees."""
    numbers = [torch.from_numpy(own) for own in heads]
    return Layout([len(own) for own in heads], device, partial(_tree, heads), numbers)


def _tree(heads: Sequence[Heads], text: int, start: int, stop: int) -> Tensor:
    return torch.from_numpy(distances_within(heads[text], start, stop))
