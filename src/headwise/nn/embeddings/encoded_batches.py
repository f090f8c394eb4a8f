"""Batches of encoded texts, and of encoded pairs of texts.

A batch of pairs is a `TextBatch` too: all first texts, then all second texts. Its layout computes tree
distances when an encoder asks for them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from headwise.nn.layout import Layout
from headwise.nn.ragged import Ragged
from headwise.text.syntax import DependencyHeads, distances_within
from headwise.text.text_features import EncodedPair, EncodedText, comparison_features


@dataclass(frozen=True)
class TextBatch:
    """A batch of encoded texts, the input of an embedding.

    Attributes:
        words: Word ids, int64 `[total]`. If all texts are parsed, the layout has the dependency heads and
            the distances in the trees; and the marks and matrices that all texts have.
        spelling: `EncodedText.spelling` of each text.
        compared: `EncodedPair.compared` of each pair, `[pairs, size]`, if all pairs of a batch have it.
    """

    words: Ragged
    spelling: tuple[Any, ...]
    compared: Tensor | None = None

    @property
    def layout(self) -> Layout:
        return self.words.layout


def batch_of(texts: Sequence[EncodedText], device: torch.device | str = "cpu") -> TextBatch:
    """Collate encoded texts to a batch."""
    flat = np.concatenate([text.words for text in texts]) if texts else np.zeros(0, dtype=np.int64)
    heads = [text.parse for text in texts if text.parse is not None]
    marks, matrices = (_common([getattr(text, kind) for text in texts]) for kind in ("marks", "matrices"))
    if heads and len(heads) == len(texts):
        layout = parsed_layout(heads, device, marks, matrices)
    else:
        layout = Layout(list(map(len, texts)), device, marks=marks, matrices=matrices)
    words = Ragged(torch.from_numpy(flat).to(device), layout)
    return TextBatch(words, tuple(text.spelling for text in texts))


def _common(tables: Sequence[Mapping[str, np.ndarray]]) -> dict[str, list[Tensor]]:
    """The marks, or the matrices, that all texts have, by name."""
    names = frozenset.intersection(*map(frozenset, tables)) if tables else ()
    return {name: [torch.from_numpy(table[name]) for table in tables] for name in sorted(names)}


def parsed_layout(
    heads: Sequence[DependencyHeads],
    device: torch.device | str = "cpu",
    marks: Mapping[str, Sequence[Tensor]] | None = None,
    matrices: Mapping[str, Sequence[Tensor]] | None = None,
) -> Layout:
    """The layout of texts with these dependency heads; it computes tree distances on demand."""
    numbers = [torch.from_numpy(array) for array in heads]
    return Layout(
        [len(array) for array in heads], device, partial(_distances_of, heads), numbers, marks, matrices
    )


def _distances_of(heads: Sequence[DependencyHeads], text: int, start: int, stop: int) -> Tensor:
    return torch.from_numpy(distances_within(heads[text], start, stop))


def batch_of_pairs(pairs: Sequence[EncodedPair], device: torch.device | str = "cpu") -> TextBatch:
    """Collate pairs to a batch of texts: all first texts, then all second texts."""
    batch = batch_of([*(pair.first for pair in pairs), *(pair.second for pair in pairs)], device)
    compared = comparison_features(pairs)
    return batch if compared is None else replace(batch, compared=torch.from_numpy(compared).to(device))
