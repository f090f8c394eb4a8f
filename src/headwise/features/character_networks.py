"""Networks that compute a word vector from character vectors."""

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from headwise.ragged import Ragged
from headwise.steps import steps_of


class CharacterCNN(nn.Module):
    """Convolution over the characters of each word, and the maximum over the word (Ma & Hovy 2016).

    Args:
        inputs: Features of a character vector.
        features: Number of filters.
        window: Characters that a filter sees, odd; beyond the ends of a word it sees zeros.
    """

    def __init__(self, inputs: int, features: int, window: int):
        super().__init__()
        self.filters = nn.Conv1d(inputs, features, window)

    def forward(self, x: Ragged) -> Tensor:
        """Character vectors -> `[words, features]`; every word must have a character."""
        # One convolution over all words in a row, with as many zeros between them as a filter reaches.
        layout, reach = x.layout, self.filters.kernel_size[0] // 2
        rows = torch.arange(layout.total, device=x.device) + layout.text_of * reach
        row = x.values.new_zeros(layout.total + (layout.texts + 1) * reach, x.values.shape[1])
        row = row.index_copy(0, rows + reach, x.values)
        activations = self.filters(row.t()[None])[0].t().index_select(0, rows)
        word = layout.text_of[:, None].expand_as(activations)
        top = activations.new_zeros(layout.texts, activations.shape[1])
        return torch.tanh(top.scatter_reduce(0, word, activations, "amax", include_self=False))


class CharacterLSTM(nn.Module):
    """Bidirectional LSTM over the characters of each word; its two last states (Lample et al. 2016).

    Args:
        inputs: Features of a character vector.
        features: Features of both states together, even.
    """

    def __init__(self, inputs: int, features: int):
        super().__init__()
        self.lstm = nn.LSTM(inputs, features // 2, bidirectional=True)

    def forward(self, x: Ragged) -> Tensor:
        """Character vectors -> `[words, features]`; every word must have a character."""
        steps = steps_of(x.layout)
        packed = PackedSequence(
            x.values.index_select(0, steps.rows), torch.tensor(steps.sizes, device="cpu")
        )
        _, (last, _) = self.lstm(packed)
        states = torch.cat(list(last), dim=1)
        return torch.empty_like(states).index_copy(0, steps.texts, states)
