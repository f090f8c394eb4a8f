"""BP-Transformer (BPT; Ye, Guo, Gan, Qiu, Zhang; arXiv 1911.04070).

A text is halved again and again (`headwise.nn.encoders.bp_graph`). Tokens and spans are nodes; a token sees
near words one by one and far ones as spans, a span sees its tokens. With A(u) what node u sees, and r the
vector of an edge's relative position,

    head_u = softmax(q_u (K + R)^T / sqrt(d_k)) V,  over the nodes v of A(u)
    h = LayerNorm(h + [head_1; ...; head_N] W^O),  h = LayerNorm(h + FFN(h))

Tokens begin as their normed word vectors, spans as 0. There is one r for each level (those above `clip`
share one set), side and slot, the same in all heads. All edges into a span have one r, which moves all its
scores by the same amount and changes nothing: it is left out. The text's vector is the state of the root
(the readout `node`).

The authors' released runs on SST-5, IMDB and SNLI let tokens look left only (`causal`), although the paper
presents them as bidirectional, and keep the vectors r as they were drawn (`train_relative` off). On pairs
they have `pair_layers` on top (recipe nli-bp-transformer): between self-attention and feed-forward layer
the tokens of each text see those of the other, as the layers below left them,

    h = LayerNorm(h + [head_1; ...; head_N] W^O),  head_u = softmax(q_u K^T / sqrt(d_k)) V

and spans see nothing there (their h goes through that LayerNorm too).
"""

import torch
from torch import Tensor, nn, relu
from torch.nn.functional import dropout, pad

from headwise.core.errors import ConfigError
from headwise.nn.attention.cpu import edges
from headwise.nn.attention.cpu.edges import tile_attention, tree_attention
from headwise.nn.attention.cross import cross_attention
from headwise.nn.attention.graph_attention import graph_attention
from headwise.nn.attention.self_attention import Heads
from headwise.nn.encoders.bp_graph import PartitionGraph, partition_graph
from headwise.nn.encoders.encoder import Encoded, Positions
from headwise.nn.encoders.transformer_configs import BPTransformerConfig, relative_positions
from headwise.nn.layers.dropout import Dropout
from headwise.nn.layout import Layout
from headwise.nn.ragged import Ragged, RaggedModule

_WIDE = 8  # from this k on, more tokens together have enough keys in common


class BPTransformer(RaggedModule):
    """A stack of post-norm blocks of graph self-attention and feed-forward layers over all nodes."""

    def __init__(self, config: BPTransformerConfig | None = None):
        super().__init__()
        self.config = c = config or BPTransformerConfig()
        self.positions = Positions(c.positions, c.width, c.max_positions)
        self.norm = nn.LayerNorm(c.width)
        self.blocks = nn.ModuleList(BPTBlock(c) for _ in range(c.layers))
        self.pair_blocks = nn.ModuleList(BPTMemoryBlock(c) for _ in range(c.pair_layers))

    def forward(self, x: Ragged) -> Encoded:
        """Word vectors of `[width]` -> the states of the words, and the root as the summary, which stands
        over the words: the maximum over the words leaves it out. An empty text has no root; its summary
        is 0. With `pair_layers` the texts are the first ones of pairs, and then the second ones."""
        layout = x.layout
        h, graph = self._states(x, spans=True)
        if self.config.pair_layers:
            memory = swapped(x.with_values(h[: layout.total]))
            for block in self.pair_blocks:
                h = block(h, graph, memory)
        if layout.total:
            root = h.index_select(0, graph.roots).masked_fill((x.lengths == 0)[:, None], 0.0)
        else:
            root = h.sum(0).expand(layout.texts, -1)  # 0, and part of the graph
        return Encoded(x.with_values(h[: layout.total]), root, summary_is_node=False)

    def token_states(self, x: Ragged) -> Ragged:
        """The states of the words alone, which need less: no span is computed that no word will see."""
        return x.with_values(self._states(x, spans=False)[0])

    def _states(self, x: Ragged, spans: bool) -> tuple[Tensor, PartitionGraph]:
        """The nodes after the last block; without spans the words only."""
        c = self.config
        graph = partition_graph(x.layout, c.k, c.clip, c.causal)
        h = self.norm(self.positions(x).values)
        for number, block in enumerate(self.blocks, start=1):
            h = block(h, graph, spans=spans or number < c.layers)
        return h, graph


def swapped(texts: Ragged) -> Ragged:
    """The first texts of pairs and then the second ones -> the same with each in its partner's place.

    Raises:
        ConfigError: It is an odd number of texts.
    """
    pairs, odd = divmod(len(texts), 2)
    if odd:
        raise ConfigError(f"pairs of texts are expected, got {len(texts)} texts")
    return texts[[*range(pairs, 2 * pairs), *range(pairs)]]


class BPTBlock(nn.Module):
    """Graph self-attention, then the feed-forward layer, each added to its input and normed."""

    def __init__(self, config: BPTransformerConfig):
        super().__init__()
        self.attention = GraphSelfAttention(config)
        self.norm1 = nn.LayerNorm(config.width)
        self.up = nn.Linear(config.width, config.feedforward)
        self.down = nn.Linear(config.feedforward, config.width)
        self.norm2 = nn.LayerNorm(config.width)
        self.dropout = Dropout(config.dropout)
        for layer in (self.up, self.down):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, h: Tensor, graph: PartitionGraph, spans: bool = True) -> Tensor:
        """`[nodes, width]`, or the tokens alone where all spans are 0 -> `[nodes, width]`, or the tokens
        alone where spans are not asked for."""
        return self.feed(self.mix(h, graph, spans))

    def mix(self, h: Tensor, graph: PartitionGraph, spans: bool) -> Tensor:
        """The first half: graph self-attention."""
        mixed = self.attention(h, graph, spans)
        h = h[: len(mixed)] if len(h) >= len(mixed) else pad(h, (0, 0, 0, len(mixed) - len(h)))
        return self.norm1(h + self.dropout(mixed))

    def feed(self, h: Tensor) -> Tensor:
        """The second half: the feed-forward layer."""
        inner = self.down(self.dropout(relu(self.up(h))))
        return self.norm2(h + self.dropout(inner))


class BPTMemoryBlock(nn.Module):
    """A block whose tokens, between self-attention and feed-forward layer, attend to the rows of a memory:
    the pair's other text, or what is to be translated."""

    def __init__(self, config: BPTransformerConfig):
        super().__init__()
        self.block = BPTBlock(config)
        self.heads = MemoryAttention(config.width, config.heads, config.head_size)
        self.norm = nn.LayerNorm(config.width)
        self.drop = config.attention_dropout

    def forward(self, h: Tensor, graph: PartitionGraph, memory: Ragged, spans: bool = True) -> Tensor:
        """Nodes as `BPTBlock.forward` takes and gives them, and a memory `[width]` for each text."""
        h, layout = self.block.mix(h, graph, spans), graph.layout
        drop = self.drop if self.training else 0.0
        update = self.block.dropout(self.heads(h[: layout.total], layout, memory, drop))
        return self.block.feed(self.norm(h + pad(update, (0, 0, 0, len(h) - layout.total))))


class MemoryAttention(Heads):
    """The rows of each text attend to those of its memory; no biases."""

    def forward(self, rows: Tensor, layout: Layout, memory: Ragged, drop: float = 0.0) -> Tensor:
        """Rows of texts, `[total, width]`, and a memory `[width]` for each text -> `[total, width]`; 0
        where the memory is empty."""
        seen = cross_attention(*self.projected(rows, memory), layout, memory.layout, drop=drop)
        return self.out(seen.flatten(1))

    def projected(self, rows: Tensor, memory: Ragged) -> tuple[Tensor, Tensor, Tensor]:
        """Query, key, value: `[rows, heads, size]`."""
        query, key, value = self.query(rows), self.key(memory.values), self.value(memory.values)
        shape = (self.heads, -1)
        return query.unflatten(-1, shape), key.unflatten(-1, shape), value.unflatten(-1, shape)


class GraphSelfAttention(nn.Module):
    """Every node attends to what it sees; no biases."""

    def __init__(self, config: BPTransformerConfig):
        super().__init__()
        c = config
        self.heads = Heads(c.width, c.heads, c.head_size)
        self.relative = None
        self.labels = relative_positions(c)
        if c.relative:
            self.relative = nn.Parameter(torch.empty(c.relative_rows, c.head_size))
            nn.init.xavier_uniform_(self.relative)
            self.relative.requires_grad_(c.train_relative)
        self.drop = c.attention_dropout

    def forward(self, h: Tensor, graph: PartitionGraph, spans: bool = True) -> Tensor:
        """See `BPTBlock.forward`."""
        heads, total = self.heads, graph.layout.total
        drop = self.drop if self.training else 0.0
        asking = h if spans else h[:total]
        query, key, value = (p(x) for p, x in ((heads.query, asking), (heads.key, h), (heads.value, h)))
        if len(h) < graph.nodes:  # spans are 0, and so are their products
            missing = (0, 0, 0, graph.nodes - len(h))
            key, value = pad(key, missing), pad(value, missing)
            query = pad(query, missing) if spans else query
        if edges.unsupported_reason(query) is None:
            return heads.out(self._along_edges(query, key, value, graph, drop))
        query, key, value = (heads.split(x) for x in (query, key, value))
        table = None if self.relative is None else self.relative[: self.labels]
        mixed = graph_attention(query[:, :total], key, value, graph.context, table=table, drop=drop)
        if query.shape[1] > total:
            parts = span_attention(query, key[:, :total], value[:, :total], graph, drop)
            mixed = torch.cat([mixed, *parts], dim=1)
        return heads.merge(mixed)

    def _along_edges(
        self, query: Tensor, key: Tensor, value: Tensor, graph: PartitionGraph, drop: float
    ) -> Tensor:
        """With compiled kernels: rows of all heads side by side, and so is what is given."""
        query, key, value = (x.unflatten(-1, (self.heads.heads, -1)) for x in (query, key, value))
        total, lanes = graph.layout.total, edges.lanes(query.dtype)
        width = lanes if graph.k < _WIDE else 2 * lanes
        tiles = graph.tiles(width, labels=self.relative is not None)
        mixed = tile_attention(query[:total], key, value, tiles, self.relative, drop)
        if len(query) > total:
            trees = graph.trees(lanes)
            parts = tree_attention(query[total:], key[:total], value[:total], trees, drop)
            mixed = torch.cat([mixed, parts])
        return mixed.flatten(1)


def span_attention(
    query: Tensor, key: Tensor, value: Tensor, graph: PartitionGraph, drop: float = 0.0
) -> list[Tensor]:
    """Attention of the spans of each level over their tokens (the affiliated edges).

    Args:
        query: `[heads, nodes, size]`.
        key: `[heads, tokens, size]`.
        value: Like `key`.
        graph: The spans.
        drop: Dropout on the weights.

    Returns:
        `[heads, spans, size]` for each level from 1 on.
    """
    key, value = key.index_select(1, graph.forest), value.index_select(1, graph.forest)
    outputs = []
    for spans in graph.spans:
        blocks = len(spans.visible)
        q = query.new_zeros(len(query), blocks, query.shape[-1])
        q = q.index_copy(1, spans.block, query[:, spans.rows])
        k, v = (x[:, : blocks * spans.size].unflatten(1, (blocks, spans.size)) for x in (key, value))
        scores = (q.unsqueeze(2) @ k.transpose(-1, -2)).squeeze(2) / q.shape[-1] ** 0.5
        weights = scores.masked_fill(~spans.visible, float("-inf")).softmax(-1)
        weights = dropout(weights, drop, training=drop > 0)
        mixed = (weights.unsqueeze(2) @ v).squeeze(2)
        outputs.append(mixed.index_select(1, spans.block))
    return outputs
