"""Bidirectional LSTM (Hochreiter & Schmidhuber 1997; Graves & Schmidhuber 2005), a baseline of the papers.

One LSTM reads every text from the left, another from the right; their states stand side by side. The
readout `max` gives max-pooling over them, `attentive` self-attentive pooling, `node` the two last states.
"""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from headwise.encoders.base import Encoded
from headwise.ragged import Layout, Ragged


@dataclass(frozen=True)
class BiLSTMConfig:
    """Settings of the bidirectional LSTM."""

    readout: ClassVar[str] = "max"

    width: int = 300
    """Features of a word vector."""
    layers: int = 1
    """Number of LSTMs on top of one another, in each direction."""
    hidden: int = 150
    """Features of a state in each direction; the two together are what the encoder gives (BiLSTM)."""
    dropout: float = 0.1
    """On what each layer gives, while training."""

    @property
    def output_width(self) -> int:
        """Features of what the encoder gives."""
        return 2 * self.hidden


class BiLSTM(nn.Module):
    """Bidirectional LSTM over the words of each text alone; the padding stays inside."""

    def __init__(self, config: BiLSTMConfig | None = None):
        super().__init__()
        self.config = c = config or BiLSTMConfig()
        between = c.dropout if c.layers > 1 else 0.0  # torch warns of a dropout after the only layer
        self.lstm = nn.LSTM(
            c.width, c.hidden, c.layers, dropout=between, bidirectional=True, batch_first=True
        )
        self.dropout = nn.Dropout(c.dropout)

    def forward(self, x: Ragged) -> Encoded:
        """Word vectors of `[width]` -> the states of the words, `[2 * hidden]`; the summary is the last
        state of each direction, 0 for a text without words."""
        if x.layout.total == 0:
            nothing = x.values @ x.values.new_zeros(x.values.shape[-1], self.config.output_width)
            return Encoded(x.with_values(nothing), nothing.new_zeros(len(x), self.config.output_width))
        full = x.lengths.nonzero().flatten()
        layout = Layout([n for n in x.layout.sizes if n], x.device)
        states = self.dropout(self._states(Ragged(x.values, layout)))
        forward, backward = states.split(self.config.hidden, dim=-1)
        last = torch.cat([forward[layout.offsets[1:] - 1], backward[layout.offsets[:-1]]], dim=-1)
        summary = last.new_zeros(len(x), last.shape[-1]).index_copy(0, full, last)
        return Encoded(x.with_values(states), summary)

    def _states(self, x: Ragged) -> Tensor:
        """`[total, 2 * hidden]`; no text is empty."""
        layout, (padded, _) = x.layout, x.to_padded()
        packed = pack_padded_sequence(padded, layout.lengths.cpu(), batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return states.flatten(0, 1).index_select(0, layout.text_of * layout.longest + layout.positions)
