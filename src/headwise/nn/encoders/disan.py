"""Directional Self-Attention Network (DiSAN; Shen, Zhou, Long, Jiang, Pan, Zhang; AAAI 2018).

Attention is multi-dimensional: every feature has its own weights. In each of two directions,

    h = ELU(W x + b)
    z_ij = c tanh((W1 h_j + W2 h_i + b1) / c)                        token i looks at token j
    s_i = sum_j softmax_j(z_ij) * h_j                                 feature by feature
    f = sigmoid(Wf h + Wg s + bf),  u = f * h + (1 - f) * s

Forward, i sees the words strictly before it, backward those strictly after it; a word that sees none gets
s = 0. The two directions stand side by side. The text's vector is source2token attention over them, the
readout `attentive` (there with ReLU in the place of ELU). All pairs of words have a vector of weights, so
that time grows with length x length x width: this is a baseline for sentences.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import elu

from headwise.nn.encoders.encoder import Encoded
from headwise.nn.encoders.transformer_configs import DiSANConfig
from headwise.nn.layers.dropout import Dropout
from headwise.nn.ragged import Ragged, RaggedModule
from headwise.nn.torch_modes import checkpointed

_WEIGHTS = 1 << 23  # weights (pairs of words x features) that are held at a time, unless one text has more
_RATIO, _SLACK = 1.25, 4  # texts are padded together while the longest is at most so much longer


class DiSAN(RaggedModule):
    """Directional self-attention, forward and backward side by side."""

    def __init__(self, config: DiSANConfig | None = None):
        super().__init__()
        self.config = c = config or DiSANConfig()
        widths = [c.width, *[c.output_width] * (c.layers - 1)]
        self.forwards = nn.ModuleList(DirectionalAttention(w, c, forward=True) for w in widths)
        self.backwards = nn.ModuleList(DirectionalAttention(w, c, forward=False) for w in widths)
        self.dropout = Dropout(c.dropout)

    def forward(self, x: Ragged) -> Encoded:
        """Word vectors of `[width]` -> the states of the words, `[2 * width]`."""
        for forward, backward in zip(self.forwards, self.backwards, strict=True):
            x = x.map(self.dropout)
            x = x.with_values(torch.cat([forward(x), backward(x)], dim=-1))
        return Encoded(x)


class DirectionalAttention(nn.Module):
    """One direction of a block: token2token attention and the gate.

    Args:
        in_width: Features of the input.
        config: Its width and bound count.
        forward: Whether a word sees those before it, or those after it.
    """

    def __init__(self, in_width: int, config: DiSANConfig, *, forward: bool):
        super().__init__()
        width = config.width
        self.bound, self.before = config.bound, forward
        self.map = nn.Linear(in_width, width)  # W, b
        self.key = nn.Linear(width, width, bias=False)  # W1
        self.query = nn.Linear(width, width)  # W2, b1
        self.gate_word = nn.Linear(width, width, bias=False)  # Wf
        self.gate_seen = nn.Linear(width, width)  # Wg, bf

    def forward(self, x: Ragged) -> Tensor:
        """Rows of `[in_width]` -> `[total, width]`."""
        h = elu(self.map(x.values))
        rows = x.with_values(torch.stack([self.query(h), self.key(h), h], dim=1))
        return self.gated(h, token2token(rows, self.bound, before=self.before).values)

    def gated(self, h: Tensor, s: Tensor) -> Tensor:
        """The words and what they saw, `[total, width]` -> `[total, width]`."""
        f = torch.sigmoid(self.gate_word(h) + self.gate_seen(s))
        return f * h + (1 - f) * s


def token2token(rows: Ragged, bound: float, *, before: bool) -> Ragged:
    """Multi-dimensional attention of each word to the words strictly before (`before`) or after it.

    Args:
        rows: Queries, keys and values, `[3, width]` for each word.
        bound: The c of DiSAN.
        before: The direction: True for the words before, False for those after.

    Returns:
        `[width]` for each word, 0 where it sees none.
    """
    sizes = rows.layout.sizes
    texts = sorted(range(len(sizes)), key=lambda t: -sizes[t])
    outputs = []
    for part in _group_texts(texts, sizes, rows.values.shape[-1]):
        batch = rows[part]
        if torch.is_grad_enabled():  # the weights of all texts would fill the memory: compute them again
            seen = checkpointed(_attend, batch.values, batch, bound, before)
        else:
            seen = _attend(batch.values, batch, bound, before)
        outputs.append(seen)
    if not outputs:
        return rows.map(lambda x: x[:, 2])  # no words
    places = sorted(range(len(texts)), key=lambda place: texts[place])
    return Ragged(torch.cat(outputs), rows.layout.select(texts))[places]


def _group_texts(texts: list[int], sizes: tuple[int, ...], width: int) -> list[list[int]]:
    """Texts, from the longest to the shortest, in groups that are padded together; none is empty."""
    groups: list[list[int]] = []
    for text in texts:
        size = sizes[text]
        if size == 0:
            break
        longest = sizes[groups[-1][0]] if groups else 0
        weights = (len(groups[-1]) + 1 if groups else 1) * longest**2 * width
        if 0 < weights <= _WEIGHTS and longest <= max(size * _RATIO, size + _SLACK):
            groups[-1].append(text)
        else:
            groups.append([text])
    return groups


def _attend(values: Tensor, batch: Ragged, bound: float, before: bool) -> Tensor:
    """`[total, 3, width]` -> `[total, width]`."""
    padded, real = batch.with_values(values).to_padded()
    query, key, value = padded.unbind(2)  # [texts, longest, width]
    place = torch.arange(padded.shape[1], device=padded.device)
    visible = place[None, :] < place[:, None] if before else place[None, :] > place[:, None]
    visible = (visible & real[:, None, :])[..., None]  # [texts, query, key, 1]
    scores = bound * torch.tanh((key[:, None] + query[:, :, None]) / bound)
    weights = scores.exp() * visible  # bounded scores: no exponential is too large
    total = weights.sum(2)
    seen = torch.einsum("tijd,tjd->tid", weights, value) / total.masked_fill(total == 0, 1.0)
    return seen[real]
