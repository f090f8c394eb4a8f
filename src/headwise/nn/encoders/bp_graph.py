"""The graph of the BP-Transformer: binary partition, affiliated and contextual edges, for a whole batch.

Level 0 holds the tokens. Node m of level j stands for the aligned block of tokens [m 2^j, (m+1) 2^j), cut
at the end of its text; there are levels until one node, the root, is left. A token sees itself and k nodes
a level on either side, finer ones nearer; a span sees its tokens.

On the right of token i, a pointer begins at p = i + 1. For level j = 0, 1, ... and slot s = 0 .. k-1 the
token sees the block of 2^j tokens at p, or that of 2^(j-1) tokens where s = 0 and p is no multiple of 2^j;
then p moves to the block's end. The left is its mirror image: blocks end where those on the right begin.
So itself, left and right cover the text exactly once. (This is the released builder's rule: by the paper's
recursion, p_j = parent(p_(j-1) + k), levels overlap.) With h = 2^(j-1), the pointers have reached

    right:  h (floor((i + 1 - k) / h) + 2k)        left:  h (ceil((i + k) / h) - 2k)

at the beginning of level j > 0, so the h tokens of equal floor (or ceil) see the same nodes and make up a
group. By these formulas the graph of a batch is built at once, with a few operations for each level.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import torch
from torch import Tensor

from headwise.nn.attention.cpu.edges import Tiles, Trees
from headwise.nn.attention.graph_attention import Edges, Graph
from headwise.nn.layout import Layout
from headwise.nn.torch_modes import cacheable_tensors, is_cacheable

_SMALL = 1024  # tokens; graphs of batches up to this size are kept for later batches of the same lengths
_LARGE = 1 << 14  # ... and up to this size where all texts have the same length
_WIDEST = 16  # tokens in a group of level 0: each sees 2k + 1 of its group's 2k + 16 keys


@dataclass(frozen=True)
class Spans:
    """The spans of one level, and where their tokens stand in the forest.

    Attributes:
        rows: Where their nodes are in the batch.
        size: Tokens of a whole span, 2^level.
        block: `[spans]`, the block of `size` rows of the forest that each span sees.
        visible: `[blocks, size]`, which rows of the forest are tokens; all in a block without tokens.
    """

    rows: slice
    size: int
    block: Tensor
    visible: Tensor


class PartitionGraph:
    """Nodes and edges of a batch: first all tokens, then the spans level by level, text by text.

    The structures for each implementation of attention are built when they are needed.

    Attributes:
        nodes: Number of nodes.
        roots: `[texts]`, the row of each root; 0 for a text without words.

    Args:
        sizes: Tokens of each text.
        device: Device of the index tensors.
        k, clip, causal: See `partition_graph`.
    """

    def __init__(self, sizes: tuple[int, ...], device: torch.device, k: int, clip: int, causal: bool):
        self.layout, self.k, self.clip, self.causal = Layout(sizes, device), k, clip, causal
        layout = self.layout
        self.device = layout.device
        self.lengths = layout.lengths
        levels = range(1, max(0, layout.longest - 1).bit_length() + 1)
        # Nodes of each text at each level, and the rows of their first ones.
        self.counts = [self.lengths] + [
            torch.where(self.lengths > 2 ** (j - 1), -(-self.lengths // 2**j), 0) for j in levels
        ]
        self.rows = [0, *torch.stack(self.counts).sum(1).cumsum(0).tolist()]
        self.first = [
            row + count.cumsum(0) - count for row, count in zip(self.rows[:-1], self.counts, strict=True)
        ]
        self.height = torch.stack(self.counts).count_nonzero(0) - 1  # level of each root
        self.nodes = self.rows[-1]
        roots = torch.stack(self.first).gather(0, self.height.clamp(min=0)[None])[0]
        self.roots = roots.where(self.lengths > 0, 0)
        self._tiles: dict[tuple[int, bool], Tiles] = {}
        self._trees: dict[int, Trees] = {}

    @cached_property
    def context(self) -> Graph:
        """The nodes that each token attends to: itself and its contextual edges."""
        return self._context()

    @property
    def forest(self) -> Tensor:
        """The token at each row of a forest of perfect trees, the tallest first, so that the blocks of
        every level are contiguous; a tree is filled up with its text's last token."""
        return self._forest[0]

    @property
    def spans(self) -> tuple[Spans, ...]:
        """The levels from 1 on."""
        return self._forest[1]

    def tiles(self, width: int, labels: bool = True) -> Tiles:
        """`context` in tiles of `width` tokens; without labels, all labels are 0."""
        if (width, labels) not in self._tiles:
            graph = self._context()  # which is not kept beside the tiles
            seen, none = graph.visible, torch.zeros(0, dtype=torch.int64, device=self.device)
            query, key = seen.nonzero()[:, 0], graph.neighbours[seen] if graph.blocks else none
            label = graph.labels[seen] if labels and graph.labels is not None else torch.zeros_like(key)
            edges = query.numpy(), key.numpy(), label.numpy()
            self._tiles[width, labels] = Tiles.of(self.layout, *edges, width)
        return self._tiles[width, labels]

    def trees(self, width: int) -> Trees:
        """`spans` in blocks of `width` tokens; rows are counted among the spans."""
        if width not in self._trees:
            firsts = torch.stack(self.first).numpy() - self.layout.total
            self._trees[width] = Trees.of(self.layout, firsts, width)
        return self._trees[width]

    def _context(self) -> Graph:
        with cacheable_tensors():
            return Graph.of(self.layout.total, list(self._edges()))

    def _edges(self) -> Iterator[Edges]:
        if self.layout.total:
            yield self._window()
        for level in range(1, len(self.counts)):
            yield self._left(level)
            if not self.causal:
                yield self._right(level)

    def _window(self) -> Edges:
        """A token itself and level 0, both sides: neighbouring tokens share a window of keys."""
        reach = min(self.k, self.layout.longest - 1)
        width = max(1, min(2 * reach, _WIDEST))
        text, group = self._spread(-(-self.lengths // width))
        query = (group * width)[:, None] + torch.arange(width, device=self.device)
        offset = torch.arange(-reach, width + (0 if self.causal else reach), device=self.device)
        key = (group * width)[:, None] + offset
        distance = offset - torch.arange(width, device=self.device)[:, None]
        labels = torch.where(distance < 0, -2 * distance - 1, 2 * distance)
        outside = (distance.abs() > reach) | (distance > 0 if self.causal else False)
        return Edges(self._node(0, text, query), self._node(0, text, key), labels.masked_fill(outside, -1))

    def _right(self, level: int) -> Edges:
        half, k = 2 ** (level - 1), self.k
        lowest = (1 - k) // half  # floor of the first token
        text, group = self._spread((-(-self.lengths // half) - 2 * k - lowest).clamp(min=0))
        group = (group + lowest)[:, None]
        pointer = group + 2 * k  # in halves
        slot = torch.arange(k, device=self.device)
        node = pointer // 2 + slot
        keys = self._node(level, text, node)
        odd = (pointer % 2 == 1) & (slot == 0)
        keys = torch.where(odd, self._node(level - 1, text, pointer), keys)
        tokens = group * half + k - 1 + torch.arange(half, device=self.device)
        return Edges(self._node(0, text, tokens), keys, self._labels(level, 2 * slot + 2))

    def _left(self, level: int) -> Edges:
        half, k = 2 ** (level - 1), self.k
        text, group = self._spread((-(-(self.lengths - 1 + k) // half) - 2 * k).clamp(min=0))
        pointer = (group + 1)[:, None]  # in halves; the first group with something on its left
        slot = torch.arange(k, device=self.device)
        keys = self._node(level, text, (pointer + 1) // 2 - 1 - slot)
        odd = (pointer % 2 == 1) & (slot == 0)
        keys = torch.where(odd, self._node(level - 1, text, pointer - 1), keys)
        tokens = (pointer + 2 * k - 1) * half - k + 1 + torch.arange(half, device=self.device)
        return Edges(self._node(0, text, tokens), keys, self._labels(level, 2 * slot + 1))

    def _labels(self, level: int, slot: Tensor) -> Tensor:
        return ((2 * self.k + 1) * min(level, self.clip) + slot)[None]

    def _node(self, level: int, text: Tensor, number: Tensor) -> Tensor:
        """Row of a node `[groups, ...]` of the texts `[groups]`, -1 where there is none."""
        there = (number >= 0) & (number < self.counts[level][text][:, None])
        return torch.where(there, self.first[level][text][:, None] + number, -1)

    def _spread(self, counts: Tensor) -> tuple[Tensor, Tensor]:
        """For texts with `counts` elements each, `[texts]`: the text of each element, and its number in the
        text."""
        text = torch.repeat_interleave(torch.arange(len(counts), device=self.device), counts)
        return text, torch.arange(len(text), device=self.device) - (counts.cumsum(0) - counts)[text]

    @cached_property
    def _forest(self) -> tuple[Tensor, tuple[Spans, ...]]:
        with cacheable_tensors():
            return self._grown()

    def _grown(self) -> tuple[Tensor, tuple[Spans, ...]]:
        size = torch.where(self.lengths > 0, 2 ** self.height.clamp(min=0), 0)
        order = size.argsort(descending=True, stable=True)
        start = torch.empty_like(size)
        start[order] = size[order].cumsum(0) - size[order]
        tree, place = self._spread(size[order])
        text = order[tree]
        real = place < self.lengths[text]
        forest = self.first[0][text] + torch.minimum(place, self.lengths[text] - 1)
        spans = []
        for level in range(1, len(self.counts)):
            rows = int(size[self.height >= level].sum())
            visible = real[:rows].unflatten(0, (-1, 2**level))
            text, number = self._spread(self.counts[level])
            spans.append(
                Spans(
                    rows=slice(self.rows[level], self.rows[level + 1]),
                    size=2**level,
                    block=start[text] // 2**level + number,
                    visible=visible | ~visible.any(1, keepdim=True),
                )
            )
        return forest, tuple(spans)


_kept_graph = lru_cache(maxsize=8)(PartitionGraph)


def partition_graph(layout: Layout, k: int, clip: int, causal: bool) -> PartitionGraph:
    """The graph of a batch, cached in the layout's memo; small graphs are cached for later batches too.

    Args:
        layout: The texts.
        k: Contextual edges of a token for each level and side.
        clip: Levels above share the labels of this one.
        causal: Whether tokens look to the left only.
    """

    def make() -> PartitionGraph:
        same = len(set(layout.sizes)) == 1 and layout.total <= _LARGE  # windows of a long text
        small = layout.total <= _SMALL or same
        graph = _kept_graph if small and is_cacheable() else PartitionGraph
        return graph(layout.sizes, layout.device, k, clip, causal)

    return layout.cached((partition_graph, k, clip, causal), make)
