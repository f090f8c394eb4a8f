"""Attention along the edges of a graph: time and memory grow with the edges, not with all pairs.

Queries that see the same keys are put into one group, so that their keys are gathered once and their
scores are one small matrix product. A `NeighbourBlock` is many groups of one shape; the softmax of a
query runs over all blocks that it is in. On the CPU, `headwise.nn.attention.cpu.edges` computes the same
faster where the edges are given to it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import torch
from torch import Tensor
from torch.nn.functional import dropout


@dataclass(frozen=True)
class Edges:
    """A block of edges as its builder describes it; -1 marks an empty place.

    Attributes:
        queries: `[groups, width]`, rows of the queries, each row at most once; None where query `i` is
            alone in group `i`.
        keys: `[groups, slots]`, rows of the keys that every query of the group sees. A group has at least
            one query and one key, and all its rows belong to one text.
        labels: `[width or 1, slots]`, the label of each edge, the same in all groups; -1 where this query
            does not see this key after all. None where edges have no labels.
    """

    queries: Tensor | None
    keys: Tensor
    labels: Tensor | None = None


@dataclass(frozen=True)
class NeighbourBlock:
    """Groups of queries that share keys. Empty places repeat rows of the same text, so that nothing reaches
    another text, and are masked by the graph's `visible`.

    Attributes:
        queries: `[groups * width]`; None where query `i` is alone in group `i`.
        keys: `[groups * slots]`.
        place: `[rows]`, the place of each query in `queries`; 0 for queries outside the block.
        member: `[rows, 1]`, which queries are in the block.
        width: Queries in a group.
        slots: Keys of a group.
    """

    queries: Tensor | None
    keys: Tensor
    place: Tensor
    member: Tensor
    width: int
    slots: int

    def scores(self, query: Tensor, key: Tensor) -> Tensor:
        """`[heads, rows, size]` twice -> `[heads, rows, slots]`."""
        return self._ungroup(_Product.apply(query, key, self, True))

    def mix(self, weights: Tensor, value: Tensor) -> Tensor:
        """Weights `[heads, rows, slots]` and `[heads, rows, size]` -> `[heads, rows, size]`."""
        mixed = self._ungroup(_Product.apply(weights, value, self, False))
        return mixed if self.queries is None else mixed.masked_fill(~self.member, 0.0)

    def group(self, rows: Tensor) -> Tensor:
        """Group queries: `[heads, rows, size]` -> `[heads, groups, width, size]`."""
        if self.queries is None:
            return rows.unsqueeze(2)
        return rows.index_select(1, self.queries).unflatten(1, (-1, self.width))

    def group_keys(self, rows: Tensor) -> Tensor:
        """Group keys: `[heads, rows, size]` -> `[heads, groups, slots, size]`."""
        return rows.index_select(1, self.keys).unflatten(1, (-1, self.slots))

    def _ungroup(self, grouped: Tensor) -> Tensor:
        flat = grouped.flatten(1, 2)
        return flat if self.queries is None else flat.index_select(1, self.place)


class _Product(torch.autograd.Function):
    """The product of grouped queries with grouped keys, transposed or not. For the gradient the rows are
    gathered again: if they were kept, they would be most of an encoder's memory in training."""

    generate_vmap_rule = True

    @staticmethod
    def forward(left: Tensor, right: Tensor, block: NeighbourBlock, transposed: bool) -> Tensor:
        keys = block.group_keys(right)
        return block.group(left) @ (keys.transpose(-1, -2) if transposed else keys)

    @staticmethod
    def setup_context(ctx, inputs: tuple[Tensor, Tensor, NeighbourBlock, bool], output: Tensor) -> None:
        ctx.save_for_backward(*inputs[:2])
        ctx.block, ctx.transposed = inputs[2:]

    @staticmethod
    def backward(ctx, *grad_outputs: Tensor) -> tuple[Tensor, Tensor, None, None]:
        (grad,) = grad_outputs
        left, right = ctx.saved_tensors
        block: NeighbourBlock = ctx.block
        queries, keys = block.group(left), block.group_keys(right)
        if ctx.transposed:
            of_queries, of_keys = grad @ keys, grad.transpose(-1, -2) @ queries
        else:
            of_queries, of_keys = grad @ keys.transpose(-1, -2), queries.transpose(-1, -2) @ grad
        of_left = of_queries.flatten(1, 2)
        if block.queries is not None:
            of_left = torch.zeros_like(left).index_add(1, block.queries, of_left)
        return of_left, torch.zeros_like(right).index_add(1, block.keys, of_keys.flatten(1, 2)), None, None


@dataclass(frozen=True)
class Graph:
    """A graph: for each query, the keys that it sees.

    Attributes:
        blocks: Blocks that together hold every edge once; every query has an edge.
        visible: `[rows, degree]`, which of the slots of all blocks, side by side, are edges.
        labels: `[rows, degree]`, the label of each edge; None where edges have no labels.
    """

    blocks: tuple[NeighbourBlock, ...]
    visible: Tensor
    labels: Tensor | None

    @property
    def neighbours(self) -> Tensor:
        """`[rows, degree]`, the row of the key of each slot; meaningless where nothing is `visible`."""
        keys = [b.keys.unflatten(0, (-1, b.slots))[b.place // b.width] for b in self.blocks]
        return torch.cat(keys, dim=1)

    @classmethod
    def of(cls, rows: int, edges: Sequence[Edges]) -> "Graph":
        """The graph of `rows` queries from its edges; empty blocks are left out."""
        blocks, visible, labels = [], [], []
        for part in edges:
            if len(part.keys) == 0:
                continue
            block = _block(rows, part)
            real = (part.keys >= 0)[:, None]
            if part.labels is not None:
                real = real & (part.labels >= 0)
            real = real.expand(-1, block.width, -1).flatten(0, 1)[block.place]
            blocks.append(block)
            visible.append(real & block.member)
            if part.labels is not None:
                kinds = part.labels.clamp(min=0).expand(block.width, -1)
                labels.append(kinds[block.place % block.width])
        if not blocks:
            return cls((), torch.zeros(rows, 0, dtype=torch.bool), None)
        return cls(tuple(blocks), torch.cat(visible, 1), torch.cat(labels, 1) if labels else None)


def _block(rows: int, edges: Edges) -> NeighbourBlock:
    keys = torch.where(edges.keys < 0, edges.keys.amax(1, keepdim=True), edges.keys)
    slots = keys.shape[1]
    row_numbers = torch.arange(rows, device=keys.device)
    if edges.queries is None:
        return NeighbourBlock(None, keys.flatten(), row_numbers, (row_numbers >= 0)[:, None], 1, slots)
    there = edges.queries.flatten() >= 0
    place = torch.full_like(row_numbers, -1)
    place[edges.queries.flatten()[there]] = there.nonzero().flatten()
    queries = torch.where(edges.queries < 0, edges.queries.amax(1, keepdim=True), edges.queries)
    member = (place >= 0)[:, None]
    return NeighbourBlock(
        queries.flatten(), keys.flatten(), place.clamp(min=0), member, queries.shape[1], slots
    )


def graph_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    graph: Graph,
    *,
    table: Tensor | None = None,
    drop: float = 0.0,
) -> Tensor:
    """Multi-head attention of every query over its neighbours v:

        out_u = sum_v softmax_v(q_u . (k_v + table[label of the edge]) / sqrt(size)) v_v

    Args:
        query: `[heads, rows, size]`.
        key: `[heads, key rows, size]`.
        value: Like `key`.
        graph: The neighbours.
        table: `[labels, size]`, what is added to keys by the edge's label; the same for all heads.
        drop: Dropout on the weights.

    Returns:
        `[heads, rows, size]`.
    """
    if not graph.blocks:
        return query  # no rows
    weights = graph_weights(query, key, graph, table)
    weights = dropout(weights, drop, training=drop > 0).to(value.dtype)  # autocast widens a softmax
    parts = weights.split([block.slots for block in graph.blocks], dim=-1)
    return reduce(add, (block.mix(w, value) for block, w in zip(graph.blocks, parts, strict=True)))


def graph_weights(query: Tensor, key: Tensor, graph: Graph, table: Tensor | None = None) -> Tensor:
    """Attention weights of every query to its neighbours, `[heads, rows, degree]`; see
    `graph_attention`."""
    query = query / query.shape[-1] ** 0.5
    scores = torch.cat([block.scores(query, key) for block in graph.blocks], dim=-1)
    if table is not None and graph.labels is not None:
        of_label = query @ table.transpose(0, 1)
        scores = scores + of_label.gather(-1, graph.labels.expand(len(query), -1, -1))
    return scores.masked_fill(~graph.visible, float("-inf")).softmax(-1)


def segment_attention(query: Tensor, key: Tensor, value: Tensor, segment: Tensor) -> Tensor:
    """One query for each segment of rows, which attends to all of them; every segment has a row.

    Args:
        query: `[heads, segments, size]`.
        key: `[heads, rows, size]`, in any order.
        value: Like `key`.
        segment: `[rows]`, the segment that each row belongs to.

    Returns:
        `[heads, segments, size]`.
    """
    wide = torch.promote_types(query.dtype, torch.float32)  # 16 bits are too few for sums over long texts
    scores = (query.index_select(1, segment) * key).sum(-1, dtype=wide) / query.shape[-1] ** 0.5
    shape = query.shape[:2]
    top = scores.new_zeros(shape).scatter_reduce(
        1, segment.expand_as(scores), scores.detach(), "amax", include_self=False
    )
    exp = (scores - top.index_select(1, segment)).exp()
    total = scores.new_zeros(shape).index_add(1, segment, exp)
    weights = exp / total.index_select(1, segment)
    mixed = scores.new_zeros(query.shape).index_add(1, segment, weights.unsqueeze(-1) * value)
    return mixed.to(value.dtype)
