"""Bidirectional LSTM (Hochreiter & Schmidhuber 1997; Graves & Schmidhuber 2005), a baseline of the papers.

One LSTM reads every text from the left, another from the right; their states stand side by side. The
readout `max` gives max-pooling over them, `attentive` self-attentive pooling, `node` the two last states.
"""

import torch
from torch import Tensor, nn

from headwise.nn.encoders.encoder import Encoded
from headwise.nn.encoders.recurrent_configs import BiLSTMConfig
from headwise.nn.layers.dropout import Dropout
from headwise.nn.ragged import Ragged, RaggedModule

_AT_ONCE = 1 << 12  # words; oneDNN, which computes LSTMs on the CPU, refuses texts of a million


class BiLSTM(RaggedModule):
    """Bidirectional LSTM over the words of each text alone.

    Texts are padded behind their end only, where an LSTM has no more to say; for the other direction each
    text is turned round first. (A packed batch would need no padding, but its gradient takes time that
    grows with the square of the longest text.)
    """

    def __init__(self, config: BiLSTMConfig | None = None):
        super().__init__()
        self.config = c = config or BiLSTMConfig()
        widths = [c.width] + [c.output_width] * (c.layers - 1)
        self.forwards, self.backwards = (
            nn.ModuleList(nn.LSTM(width, c.hidden, batch_first=True) for width in widths) for _ in range(2)
        )
        self.dropout = Dropout(c.dropout)

    def forward(self, x: Ragged) -> Encoded:
        """Word vectors of `[width]` -> the states of the words, `[2 * hidden]`; the summary is the last
        state of each direction, 0 for a text without words."""
        if x.layout.total == 0:
            # Part of the graph, like any batch's.
            lstms, hidden = (self.forwards[0], self.backwards[0]), self.config.hidden
            weights = (lstm.get_parameter("weight_ih_l0")[:hidden] for lstm in lstms)
            nothing = torch.cat([x.values @ weight.T for weight in weights], dim=1)
            return Encoded(x.with_values(nothing), nothing.sum(0).expand(len(x), -1))
        layout = x.layout
        starts, ends = layout.offsets[:-1], layout.offsets[:-1] + layout.lengths - 1
        # No row is before the first: what an exported graph has behind the end of a text reads anything.
        turned = (ends.index_select(0, layout.text_of) - layout.positions).clamp(min=0)
        states = x
        for forwards, backwards in zip(self.forwards, self.backwards, strict=True):
            ahead = _run_lstm(forwards, states)
            back = _run_lstm(backwards, states.map(lambda rows: rows.index_select(0, turned)))
            both = torch.cat([ahead, back.index_select(0, turned)], dim=-1)
            states = x.with_values(self.dropout(both))
        ahead, back = states.values.split(self.config.hidden, dim=-1)
        last = torch.cat([ahead[ends.clamp(min=0)], back[starts.clamp(max=layout.total - 1)]], dim=-1)
        return Encoded(states, last.masked_fill((layout.lengths == 0)[:, None], 0.0))


def _run_lstm(lstm: nn.Module, x: Ragged) -> Tensor:
    """The states of an LSTM that reads each text from its first row on, `[total, hidden]`."""
    layout, (padded, _) = x.layout, x.to_padded()
    parts, carried = list[Tensor](), None
    long = isinstance(layout.longest, int) and layout.longest > _AT_ONCE
    for piece in padded.split(_AT_ONCE, dim=1) if long else [padded]:
        part, carried = lstm(piece, carried)
        parts.append(part)
    states = parts[0] if len(parts) == 1 else torch.cat(parts, dim=1)
    return states.flatten(0, 1).index_select(0, layout.text_of * layout.longest + layout.positions)
