"""Sentence-State LSTM (S-LSTM; Zhang, Liu, Song; ACL 2018), a baseline of MS-Transformer.

All words have a state at once, and the sentence has one, g; step by step they exchange with each other.
With x the word vectors, h = c = x and g = c_g = mean(x) at first, [h; l; r] a word's state and those of its
neighbours (0 beyond the ends), and all gates of the form sigmoid(W [h; l; r] + U x + V g + b),

    l, r, i, s, f = softmax(l^, r^, i^, s^, f^)                       feature by feature
    c = l c_left + r c_right + i x + s c_g + f c,   h = o tanh(c)
    f_1 .. f_n, f_g = softmax(f^_1 .. f^_n, f^_g)                     over the words and the sentence
    c_g = f_g c_g + sum_i f_i c_i,   g = o_g tanh(c_g)

where f^_i reads g and h_i, f^_g and o_g read g and the mean of h. All states of a step are made of those
before it, and all steps have the same weights. This is the authors' code, in which x itself enters a cell.
"""

from functools import partial

import torch
from torch import Tensor, nn

from headwise.nn.encoders.encoder import Encoded
from headwise.nn.encoders.recurrent_configs import SLSTMConfig
from headwise.nn.layers.dropout import Dropout
from headwise.nn.layout import Layout
from headwise.nn.ragged import Ragged, RaggedModule
from headwise.nn.torch_modes import checkpointed

MAX_STORED_BYTES = 1 << 30
"""Bytes of activations up to which they are stored for the backward pass. For larger batches only the
states between the steps are stored, and each step is recomputed: 64 texts of 400 words with 300 features
take 3.1 GB instead of 8.0, and a third more time."""
_PER_STATE = 35  # numbers that a step keeps for each of a word's state


class SLSTM(RaggedModule):
    """Steps of the words' states and the sentence's."""

    def __init__(self, config: SLSTMConfig | None = None):
        super().__init__()
        self.config = c = config or SLSTMConfig()
        self.near = nn.Linear(3 * c.width, 6 * c.width, bias=False)  # W
        self.word = nn.Linear(c.width, 6 * c.width)  # U, b
        self.sentence = nn.Linear(c.width, 6 * c.width, bias=False)  # V
        self.own_gates = nn.Linear(c.width, 3 * c.width)  # what g says of f^_g, o_g and f^_i
        self.mean_gates = nn.Linear(c.width, 2 * c.width, bias=False)  # the mean of f^_g and o_g
        self.word_gate = nn.Linear(c.width, c.width, bias=False)  # h_i of f^_i
        self.dropout = Dropout(c.dropout)

    def forward(self, x: Ragged) -> Encoded:
        """Word vectors of `[width]` -> the states of the words, and the sentence's as the summary, which is
        no node beside them; 0 for a text without words."""
        layout, of_word = x.layout, self.word(x.values)
        h = c = x.values
        g = c_g = x.mean()
        step = self._step
        stored = _PER_STATE * self.config.layers * x.values.numel() * x.values.element_size()
        if torch.is_grad_enabled() and stored > MAX_STORED_BYTES:
            step = partial(checkpointed, step)
        for _ in range(self.config.layers):
            h, c, g, c_g = step(h, c, g, c_g, x.values, of_word, layout)
        return Encoded(x.with_values(self.dropout(h)), self.dropout(g), summary_is_node=False)

    def _step(
        self, h: Tensor, c: Tensor, g: Tensor, c_g: Tensor, x: Tensor, of_word: Tensor, layout: Layout
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """States and cells of words and sentences after a step."""
        words = self._words(h, c, g, c_g, x, of_word, layout)
        return *words, *self._sentence(h, c, g, c_g, layout)

    def _words(
        self, h: Tensor, c: Tensor, g: Tensor, c_g: Tensor, x: Tensor, of_word: Tensor, layout: Layout
    ) -> tuple[Tensor, Tensor]:
        """States and cells of the words after a step."""
        text = layout.text_of
        context = torch.cat([h, *_neighbours(h, layout)], dim=-1)
        logits = self.near(context) + of_word + self.sentence(g).index_select(0, text)
        *gates, output = logits.sigmoid().unflatten(-1, (6, -1)).unbind(1)
        shares = torch.stack(gates).softmax(0)
        cells = torch.stack([*_neighbours(c, layout), x, c_g.index_select(0, text), c])
        c = (shares * cells).sum(0)
        return output * c.tanh(), c

    def _sentence(
        self, h: Tensor, c: Tensor, g: Tensor, c_g: Tensor, layout: Layout
    ) -> tuple[Tensor, Tensor]:
        """State and cell of each sentence after a step."""
        own_keep, own_output, own_words = self.own_gates(g).chunk(3, dim=-1)
        mean_keep, mean_output = self.mean_gates(Ragged(h, layout).mean()).chunk(2, dim=-1)
        words = (own_words.index_select(0, layout.text_of) + self.word_gate(h)).sigmoid().exp()
        keep = (own_keep + mean_keep).sigmoid().exp()  # a softmax of numbers between 0 and 1
        total = keep + Ragged(words, layout).sum()
        c_g = (keep * c_g + Ragged(words * c, layout).sum()) / total
        return (own_output + mean_output).sigmoid() * c_g.tanh(), c_g


def _neighbours(rows: Tensor, layout: Layout) -> tuple[Tensor, Tensor]:
    """The rows to the left and to the right of each row of `[total, width]`; 0 beyond a text's ends."""
    first = layout.positions == 0
    last = layout.positions == layout.lengths.index_select(0, layout.text_of) - 1
    left, right = rows.roll(1, 0), rows.roll(-1, 0)
    return left.masked_fill(first[:, None], 0.0), right.masked_fill(last[:, None], 0.0)
