"""Star-Transformer (Guo, Qiu, Liu, Shao, Xue, Zhang; NAACL 2019, arXiv 1902.09113).

The words are satellites on a ring, and one relay node is tied to all of them, so a step costs as much as
there are words. With the word vectors e_i, H^0 = E and s^0 = mean(E), step t = 1 .. T is

    C_i^t = [h_{i-1}; h_i; h_{i+1}; e_i; s]         (all of step t-1)
    h_i^t = LayerNorm(ReLU(MultiAtt(h_i^{t-1}, C_i^t)))
    s^t = LayerNorm(ReLU(MultiAtt(s^{t-1}, [s^{t-1}; H^t])))

There is no feed-forward layer and no residual connection. The ring closes: the first word and the last
are neighbours, in every text at its own length. The authors' later code (`variant="fastnlp"`) norms the
satellites before they attend instead, takes LeakyReLU, and leaves the relay without a norm; with
`ring="zero"` it also puts keys and values of 0 beyond both ends.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import leaky_relu, relu

from headwise.nn.attention.graph_attention import Edges, Graph, graph_attention, segment_attention
from headwise.nn.attention.self_attention import Heads
from headwise.nn.encoders.encoder import Encoded, Positions
from headwise.nn.encoders.encoder_configs import Ring, StarTransformerConfig
from headwise.nn.layers.dropout import Dropout
from headwise.nn.ragged import Layout, Ragged, RaggedModule
from headwise.nn.torch_modes import cacheable_tensors


class StarTransformer(RaggedModule):
    """T steps of satellites and relay."""

    def __init__(self, config: StarTransformerConfig | None = None):
        super().__init__()
        self.config = c = config or StarTransformerConfig()
        self.positions = Positions(c.positions, c.width, c.max_positions)
        kind = PaperStep if c.variant == "paper" else FastNLPStep
        self.steps = nn.ModuleList(kind(c) for _ in range(c.layers))

    def forward(self, x: Ragged) -> Encoded:
        """Word vectors of `[width]` -> the satellites, and the relay as the summary, which is no node of
        the ring: the maximum over the words leaves it out. An empty text's relay begins as 0 and sees
        itself alone."""
        e = self.positions(x)
        h, s = e.values, e.mean()
        ring = self.ring(x.layout)
        for step in self.steps:
            h, s = step(h, e.values, s, ring, x.layout)
        return Encoded(x.with_values(h), s, summary_is_node=False)

    def ring(self, layout: Layout) -> Graph:
        """The rows that each satellite attends to (see `ring_of`)."""
        return ring_of(layout, self.config.ring)


class StarStep(nn.Module):
    """The two attentions of a step."""

    def __init__(self, config: StarTransformerConfig):
        super().__init__()
        c = config
        self.ring_attention = Heads(c.width, c.heads, c.head_size, bias=c.bias)
        self.relay_attention = Heads(c.width, c.heads, c.head_size, bias=c.bias)
        self.dropout = Dropout(c.dropout)
        self.residual = c.residual

    def forward(
        self, h: Tensor, e: Tensor, s: Tensor, ring: Graph, layout: Layout
    ) -> tuple[Tensor, Tensor]:
        """States, word vectors, relays -> the next states and relays."""
        h = self.new_satellites(self.satellites(self.before(h), e, s, ring), h)
        return h, self.new_relay(self.relay(s, h, layout), s)

    def satellites(self, h: Tensor, e: Tensor, s: Tensor, ring: Graph) -> Tensor:
        """`MultiAtt(h_i, C_i)`: states and word vectors `[total, width]`, relays `[texts, width]` ->
        `[total, width]`."""
        return self.dropout(self.ring_attention.merge(graph_attention(*self.ring_rows(h, e, s), ring)))

    def ring_rows(self, h: Tensor, e: Tensor, s: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries of the states, keys and values of `[H; E; s; 0]`, `[heads, rows, size]`."""
        query, key, value = projected(self.ring_attention, h, torch.cat([h, e, s]))
        beyond = key.new_zeros(len(key), 1, key.shape[-1])  # the neighbour of the ends where ring = zero
        return query, torch.cat([key, beyond], dim=1), torch.cat([value, beyond], dim=1)

    def relay(self, s: Tensor, h: Tensor, layout: Layout) -> Tensor:
        """`MultiAtt(s, [s; H])` -> `[texts, width]`."""
        att = self.relay_attention
        text = torch.cat([torch.arange(layout.texts, device=s.device), layout.text_of])
        rows = projected(att, s, torch.cat([s, h]))
        return self.dropout(att.merge(segment_attention(*rows, text)))

    def before(self, h: Tensor) -> Tensor:
        """The states as the ring's attention reads them."""
        return h

    def new_satellites(self, update: Tensor, h: Tensor) -> Tensor:
        """The states after an update."""
        raise NotImplementedError

    def new_relay(self, update: Tensor, s: Tensor) -> Tensor:
        """The relays after an update."""
        raise NotImplementedError

    def added(self, update: Tensor, state: Tensor) -> Tensor:
        return state + update if self.residual else update


def projected(heads: Heads, queries: Tensor, nodes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values `[heads, rows, size]` of rows of `[width]`."""
    return (
        heads.split(heads.query(queries)),
        heads.split(heads.key(nodes)),
        heads.split(heads.value(nodes)),
    )


class PaperStep(StarStep):
    """`LayerNorm(ReLU(MultiAtt(...)))` for satellites and relay."""

    def __init__(self, config: StarTransformerConfig):
        super().__init__(config)
        self.norm = nn.LayerNorm(config.width)
        self.relay_norm = nn.LayerNorm(config.width)

    def new_satellites(self, update: Tensor, h: Tensor) -> Tensor:
        return self.norm(self.added(relu(update), h))

    def new_relay(self, update: Tensor, s: Tensor) -> Tensor:
        return self.relay_norm(self.added(relu(update), s))


class FastNLPStep(StarStep):
    """LayerNorm on the satellites before the ring, LeakyReLU after it; the relay has no norm."""

    def __init__(self, config: StarTransformerConfig):
        super().__init__(config)
        self.norm = nn.LayerNorm(config.width, eps=1e-6)

    def before(self, h: Tensor) -> Tensor:
        return self.norm(h)

    def new_satellites(self, update: Tensor, h: Tensor) -> Tensor:
        return self.added(leaky_relu(update), h)

    def new_relay(self, update: Tensor, s: Tensor) -> Tensor:
        return self.added(leaky_relu(update), s)


def ring_of(layout: Layout, ends: Ring) -> Graph:
    """The rows that each satellite attends to: 5 of the rows `[H; E; s; 0]`; cached in the layout's
    memo."""
    if (ring_of, ends) not in layout.memo:
        with cacheable_tensors():
            layout.memo[ring_of, ends] = _ring(layout, ends)
    return layout.memo[ring_of, ends]


def _ring(layout: Layout, ends: Ring) -> Graph:
    total, text, here = layout.total, layout.text_of, layout.positions
    length, start = layout.lengths[text], layout.offsets[:-1][text]
    columns = []
    for step in (-1, 0, 1):
        there = here + step
        if ends == "wrap":
            columns.append(start + there % length)
        else:
            beyond = -1 if ends == "truncate" else 2 * total + layout.texts
            columns.append(torch.where((there >= 0) & (there < length), start + there, beyond))
    row = torch.arange(total, device=layout.device)
    return Graph.of(total, [Edges(None, torch.stack([*columns, total + row, 2 * total + text], dim=1))])
