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

With `relays` = R > 1, not in the paper, each text has relays s_1 .. s_R. They begin at mean(E) plus a
learned vector each, C_i holds all of them, and each of them attends to [s_1; ..; s_R; H]. The summary of
a text is their mean.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import leaky_relu, relu

from headwise.nn.attention.graph_attention import Edges, Graph, graph_attention, segment_attention
from headwise.nn.attention.self_attention import Heads
from headwise.nn.encoders.encoder import Encoded, Positions
from headwise.nn.encoders.transformer_configs import Ring, StarTransformerConfig
from headwise.nn.layers.dropout import Dropout
from headwise.nn.layout import Layout
from headwise.nn.ragged import Ragged, RaggedModule


class StarTransformer(RaggedModule):
    """T steps of satellites and relay."""

    def __init__(self, config: StarTransformerConfig | None = None):
        super().__init__()
        self.config = c = config or StarTransformerConfig()
        self.positions = Positions(c.positions, c.width, c.max_positions)
        kind = PaperStep if c.variant == "paper" else FastNLPStep
        self.steps = nn.ModuleList(kind(c) for _ in range(c.layers))
        self.relay_vectors = None
        if c.relays > 1:  # without them all relays of a text would stay the same
            self.relay_vectors = nn.Parameter(torch.empty(c.relays, c.width))
            nn.init.xavier_uniform_(self.relay_vectors)

    def forward(self, x: Ragged) -> Encoded:
        """Word vectors of `[width]` -> the satellites, and the relay as the summary, which is no node of
        the ring: the maximum over the words leaves it out. An empty text's relay begins as 0 and sees
        itself alone."""
        e = self.positions(x)
        h, s = e.values, self.first_relays(e)
        ring = self.ring(x.layout)
        for step in self.steps:
            h, s = step(h, e.values, s, ring, x.layout)
        return Encoded(x.with_values(h), self.summary(s), summary_is_node=False)

    def first_relays(self, e: Ragged) -> Tensor:
        """The relays before the first step, `[texts * relays, width]`, those of a text side by side."""
        mean = e.mean()
        return mean if self.relay_vectors is None else (mean[:, None] + self.relay_vectors).flatten(0, 1)

    def summary(self, s: Tensor) -> Tensor:
        """Relays -> the vectors of the texts, `[texts, width]`."""
        return s if self.config.relays == 1 else s.unflatten(0, (-1, self.config.relays)).mean(1)

    def ring(self, layout: Layout) -> Graph:
        """The rows that each satellite attends to (see `ring_of`)."""
        return ring_of(layout, self.config.ring, self.config.relays)


class StarStep(nn.Module):
    """The two attentions of a step."""

    def __init__(self, config: StarTransformerConfig):
        super().__init__()
        c = config
        self.ring_attention = Heads(c.width, c.heads, c.head_size, bias=c.bias)
        self.relay_attention = Heads(c.width, c.heads, c.head_size, bias=c.bias)
        self.dropout = Dropout(c.dropout)
        self.residual, self.relays = c.residual, c.relays

    def forward(
        self, h: Tensor, e: Tensor, s: Tensor, ring: Graph, layout: Layout
    ) -> tuple[Tensor, Tensor]:
        """States, word vectors, relays -> the next states and relays."""
        h = self.new_satellites(self.satellites(self.before(h), e, s, ring), h)
        return h, self.new_relay(self.relay(s, h, layout), s)

    def satellites(self, h: Tensor, e: Tensor, s: Tensor, ring: Graph) -> Tensor:
        """`MultiAtt(h_i, C_i)`: states and word vectors `[total, width]`, relays `[texts * relays,
        width]` -> `[total, width]`."""
        return self.dropout(self.ring_attention.merge(graph_attention(*self.ring_rows(h, e, s), ring)))

    def ring_rows(self, h: Tensor, e: Tensor, s: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries of the states, keys and values of `[H; E; s; 0]`, `[heads, rows, size]`."""
        query, key, value = projected(self.ring_attention, h, torch.cat([h, e, s]))
        beyond = key.new_zeros(len(key), 1, key.shape[-1])  # the neighbour of the ends where ring = zero
        return query, torch.cat([key, beyond], dim=1), torch.cat([value, beyond], dim=1)

    def relay(self, s: Tensor, h: Tensor, layout: Layout) -> Tensor:
        """`MultiAtt(s, [s; H])` -> `[texts * relays, width]`."""
        att, relays = self.relay_attention, self.relays
        text = torch.cat([torch.arange(len(s), device=s.device) // relays, layout.text_of])
        query, key, value = projected(att, s, torch.cat([s, h]))
        if relays > 1:  # each node is a row for each relay of its text
            key, value = (rows.repeat_interleave(relays, dim=1) for rows in (key, value))
            text = (relays * text[:, None] + torch.arange(relays, device=s.device)).flatten()
        return self.dropout(att.merge(segment_attention(query, key, value, text)))

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


def ring_of(layout: Layout, ends: Ring, relays: int = 1) -> Graph:
    """The rows that each satellite attends to: 4 of the rows `[H; E; s; 0]`, and one for each relay; cached
    in the layout's memo."""
    return layout.cached((ring_of, ends, relays), lambda: _ring(layout, ends, relays))


def _ring(layout: Layout, ends: Ring, relays: int) -> Graph:
    total, text, here = layout.total, layout.text_of, layout.positions
    length, start = layout.lengths[text], layout.offsets[:-1][text]
    columns = []
    for step in (-1, 0, 1):
        there = here + step
        if ends == "wrap":
            columns.append(start + there % length)
        else:
            beyond = -1 if ends == "truncate" else 2 * total + relays * layout.texts
            columns.append(torch.where((there >= 0) & (there < length), start + there, beyond))
    row = torch.arange(total, device=layout.device)
    of_relays = (2 * total + relays * text + relay for relay in range(relays))
    return Graph.of(total, [Edges(None, torch.stack([*columns, total + row, *of_relays], dim=1))])
