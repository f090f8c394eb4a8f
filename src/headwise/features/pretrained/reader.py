"""StateReader: computes word states from the word pieces of texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from headwise.data.windows import Window
from headwise.features.pretrained.pieces import Pieces
from headwise.features.pretrained.windows import groups, windows
from headwise.ragged import Ragged


@dataclass(frozen=True)
class StateReader:
    """Applies a pretrained encoder to texts, in overlapping windows, and pools pieces to words.

    Attributes:
        prefix: Special tokens before the pieces of each window.
        suffix: Special tokens after them.
        room: Maximum number of pieces between them.
        overlap: Number of pieces that adjacent windows of a long text share.
        layers: The layers whose states are returned, from 1; 0 is the input of the first.
        pooling: How the pieces of a word are pooled: first, mean or last.
        begins_with_summary: Whether the state of the first special token is the summary of the text;
            otherwise it is the mean of the words.
    """

    prefix: tuple[int, ...]
    suffix: tuple[int, ...]
    room: int
    overlap: int
    layers: tuple[int, ...]
    pooling: str
    begins_with_summary: bool

    def read(self, encoder: Any, texts: Sequence[Pieces]) -> tuple[Tensor, Tensor]:
        """States of all words, `[total, layers, hidden]`, 0 for a word without pieces, and summaries of the
        texts, `[texts, layers, hidden]`."""
        plan = [
            (number, window)
            for number, text in enumerate(texts)
            for window in windows(text.words, self.room, self.overlap)
        ]
        states, begins = self._states(encoder, texts, plan)
        lengths = [text.length for text in texts]
        starts = np.cumsum([0, *lengths])
        rows, words = [], []
        for (number, window), begin in zip(plan, begins, strict=True):
            places = np.arange(window.first, window.last)
            rows.append(begin + len(self.prefix) + places - window.start)
            words.append(starts[number] + texts[number].words[places])
        pooled = self._pool(states, _joined(rows), _joined(words), int(starts[-1]))
        if not self.begins_with_summary:
            return pooled, Ragged.from_lengths(pooled, lengths).mean()
        firsts = [begin for (_, window), begin in zip(plan, begins, strict=True) if window.first == 0]
        return pooled, states.index_select(0, _index(firsts, states))

    def _states(
        self, encoder: Any, texts: Sequence[Pieces], plan: Sequence[tuple[int, Window]]
    ) -> tuple[Tensor, list[int]]:
        """States of all windows, `[rows, layers, hidden]`, padding included, and the first row of each."""
        table = encoder.get_input_embeddings().weight
        around = len(self.prefix) + len(self.suffix)
        sizes = [around + window.stop - window.start for _, window in plan]
        begins, row = [0] * len(plan), 0
        parts = [table.new_zeros(0, len(self.layers), encoder.config.hidden_size)]
        for group in groups(sizes):
            longest = sizes[group[0]]
            ids = np.full((len(group), longest), encoder.config.pad_token_id or 0, dtype=np.int64)
            mask = np.zeros_like(ids)
            for place, number in enumerate(group):
                text, window = plan[number]
                pieces = texts[text].ids[window.start : window.stop]
                ids[place, : sizes[number]] = [*self.prefix, *pieces, *self.suffix]
                mask[place, : sizes[number]] = 1
                begins[number] = row + place * longest
            row += len(group) * longest
            parts.append(self._call(encoder, _index(ids, table), _index(mask, table)).flatten(0, 1))
        return torch.cat(parts), begins

    def _call(self, encoder: Any, ids: Tensor, mask: Tensor) -> Tensor:
        """Piece ids and mask `[windows, longest]` -> states, `[windows, longest, layers, hidden]`."""
        if self.layers == (encoder.config.num_hidden_layers,):
            return encoder(input_ids=ids, attention_mask=mask).last_hidden_state.unsqueeze(2)
        out = encoder(input_ids=ids, attention_mask=mask, output_hidden_states=True)
        states = [*out.hidden_states[:-1], out.last_hidden_state]
        return torch.stack([states[layer] for layer in self.layers], dim=2)

    def _pool(
        self, states: Tensor, rows: NDArray[np.int64], words: NDArray[np.int64], total: int
    ) -> Tensor:
        """Pool the states of the pieces at `rows` to states of their words, `[total, ...]`."""
        if self.pooling != "mean":
            at_end = self.pooling == "last"
            keep = np.diff(words, **{"append" if at_end else "prepend": -1}) != 0
            rows, words = rows[keep], words[keep]
        pieces = states.index_select(0, _index(rows, states))
        sums = states.new_zeros(total, *states.shape[1:]).index_add(0, _index(words, states), pieces)
        counts = np.maximum(np.bincount(words, minlength=total), 1)
        return sums / _index(counts, states)[:, None, None]


def _joined(parts: list[NDArray[Any]]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])


def _index(numbers: Any, like: Tensor) -> Tensor:
    return torch.as_tensor(numbers, dtype=torch.int64, device=like.device)
