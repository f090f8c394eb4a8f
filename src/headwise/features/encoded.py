"""Batches of encoded texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from headwise.features.encoded_text import EncodedText
from headwise.features.syntax import Heads, distances_within
from headwise.ragged import Layout, Ragged


@dataclass(frozen=True)
class Batch:
    """A batch of encoded texts, the input of an embedding.

    Attributes:
        words: Word ids, int64 `[total]`. If all texts are parsed, the layout has the dependency heads and
            the distances in the trees.
        spelling: `EncodedText.spelling` of each text.
        compared: `EncodedPair.compared` of each pair, `[pairs, size]`, if all pairs of a batch have it.
    """

    words: Ragged
    spelling: tuple[Any, ...]
    compared: Tensor | None = None

    @property
    def layout(self) -> Layout:
        return self.words.layout


def batch_of(texts: Sequence[EncodedText], device: torch.device | str = "cpu") -> Batch:
    """Collate encoded texts to a batch."""
    flat = np.concatenate([text.words for text in texts]) if texts else np.zeros(0, dtype=np.int64)
    heads = [text.heads for text in texts if text.heads is not None]
    if heads and len(heads) == len(texts):
        layout = parsed_layout(heads, device)
    else:
        layout = Layout([len(text) for text in texts], device)
    words = Ragged(torch.from_numpy(flat).to(device), layout)
    return Batch(words, tuple(text.spelling for text in texts))


def parsed_layout(heads: Sequence[Heads], device: torch.device | str = "cpu") -> Layout:
    """The layout of texts with these dependency heads; it computes tree distances on demand."""
    numbers = [torch.from_numpy(array) for array in heads]
    return Layout([len(array) for array in heads], device, partial(_tree, heads), numbers)


def _tree(heads: Sequence[Heads], text: int, start: int, stop: int) -> Tensor:
    return torch.from_numpy(distances_within(heads[text], start, stop))
