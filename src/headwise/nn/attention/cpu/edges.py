"""Attention along edges, on the CPU, straight on ragged rows: no gathered copies, no [rows, degree].

The same mathematics as `headwise.nn.attention.graph_attention.graph_attention`, and attention of the
spans of binary trees, with the kernels of `headwise.nn.attention.cpu.edge_kernels`. Results do not depend
on the number of threads, nor on the texts beside a text.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
import torch
from torch import Tensor

from headwise.core.errors import ConfigError
from headwise.core.threads import run_jobs
from headwise.nn.attention.bands import once_differentiable
from headwise.nn.attention.cpu import compiled
from headwise.nn.attention.cpu.native import SPARE, computable, flat, library, unsupported_rows_reason
from headwise.nn.ragged import Layout

_PARTS = 4  # of a batch, for threads: whole texts, as many of them for every number of threads
_ALONE = 4_000  # rows times heads from which more threads than one are worth it
_MOST_LABELS = 2**15 - 2
_KEYS = 64  # the kernels take so many keys at a time
_WAY_OUT = "with HEADWISE_KERNELS=off in the environment it is computed by operations that can be"


def unsupported_reason(rows: Tensor) -> str | None:
    """Why queries, keys and values like these cannot be computed here, or None where they can."""
    if (why := unsupported_rows_reason(rows)) is not None:
        return why
    ready = compiled.compiled_kernels(compiled.EDGES)
    return ready if isinstance(ready, str) else None


def lanes(dtype: torch.dtype) -> int:
    """Numbers in one of the kernels' vectors, where `unsupported_reason` has nothing against the dtype."""
    return _library().lanes_of(8 if dtype == torch.float64 else 4)


def _library() -> compiled.Kernels:
    return library(compiled.EDGES, "attention along edges")


@dataclass(frozen=True)
class Tiles:
    """Neighbouring queries with all keys that any of them sees.

    Attributes:
        width: Queries of a tile, in the lanes of one or two vectors.
        tiles: `[tiles, 5]`, see `headwise.nn.attention.cpu.edge_kernels.forward`.
        keys: The rows of the keys, tile by tile.
        labels: For each key and each query of its tile, 1 + the place of the edge's label among `used`; 0
            where there is no edge.
        used: The labels that occur.
        parts: Where each part of the batch begins among the tiles, and the end of the last.
    """

    width: int
    tiles: np.ndarray
    keys: np.ndarray
    labels: np.ndarray
    used: np.ndarray
    parts: list[int]

    @classmethod
    def of(
        cls, layout: Layout, query: np.ndarray, key: np.ndarray, label: np.ndarray, width: int
    ) -> "Tiles":
        """From edges; every row of the layout is a query and has at least one.

        Args:
            layout: The texts; edges of a text must not lead to rows of another.
            query: `[edges]`, rows.
            key: `[edges]`, rows.
            label: `[edges]`, not negative.
            width: Queries of a tile.
        """
        text, position = layout.text_of.numpy(), layout.positions.numpy()
        counts = -(-layout.lengths.numpy() // width)
        start = counts.cumsum() - counts
        tile_of = start[text] + position // width
        lane = position % width
        seen, place = np.unique(tile_of[query] * (int(key.max(initial=0)) + 1) + key, return_inverse=True)
        tile, keys = np.divmod(seen, int(key.max(initial=0)) + 1)
        used, compact = np.unique(label, return_inverse=True)
        if len(used) > _MOST_LABELS:
            raise ConfigError(f"edges with {len(used)} labels; at most {_MOST_LABELS} are possible")
        labels = np.zeros((len(keys), width), np.int16)
        labels[place, lane[query]] = compact + 1
        tiles = np.zeros((int(counts.sum()), 5), np.int64)
        if len(tiles):
            of_tile = np.repeat(np.arange(layout.texts), counts)
            number = np.arange(len(tiles)) - start[of_tile]
            tiles[:, 0] = layout.offsets.numpy()[of_tile] + number * width
            tiles[:, 1] = np.minimum(width, layout.lengths.numpy()[of_tile] - number * width)
            tiles[:, 2] = np.searchsorted(tile, np.arange(len(tiles)))
            tiles[:, 3] = np.diff(np.append(tiles[:, 2], len(keys)))
            tiles[:, 4] = np.maximum.reduceat(labels.max(1), tiles[:, 2])
        parts = _parts(np.append(start, len(tiles)), np.append(tiles[:, 2], len(keys)))
        return cls(width, tiles, keys.astype(np.int32), labels.reshape(-1), used, parts)


def _parts(starts: np.ndarray, costs: np.ndarray) -> list[int]:
    """Cut the work items into parts of about equal cost, at boundaries of texts.

    Args:
        starts: First work item of each text, and the end, `[texts + 1]`.
        costs: Cumulative cost of the items before each, `[items + 1]`.
    """
    targets = costs[-1] * np.arange(_PARTS + 1) / _PARTS
    cuts = starts[np.searchsorted(costs[starts], targets).clip(max=len(starts) - 1)]
    return np.unique(cuts).tolist()


@dataclass(frozen=True)
class Trees:
    """Binary trees over the tokens of texts, in vectors of tokens.

    Attributes:
        blocks: `[blocks, 6]`, see `headwise.nn.attention.cpu.edge_kernels.tree_forward`.
        firsts: `[levels, texts]`, the row of the first span of each level, from the first span of all.
        parts: Where each part of the batch begins among the blocks, and the end of the last.
    """

    blocks: np.ndarray
    firsts: np.ndarray
    parts: list[int]

    @classmethod
    def of(cls, layout: Layout, firsts: np.ndarray, width: int) -> "Trees":
        """Trees whose level `j` has a span for every 2^j tokens, up to one for all.

        Args:
            layout: The texts.
            firsts: As above, with a row for level 0, which is not looked at.
            width: Tokens of a vector.
        """
        lengths = layout.lengths.numpy()
        counts = -(-lengths // width)
        start = counts.cumsum() - counts
        text = np.repeat(np.arange(layout.texts), counts)
        place = (np.arange(len(text)) - start[text]) * width
        heights = np.array([max(0, n - 1).bit_length() for n in layout.sizes], np.int64)
        columns = (
            layout.offsets.numpy()[text] + place,
            np.minimum(width, lengths[text] - place),
            place,
            lengths[text],
            heights[text],
            text,
        )
        blocks = np.stack(columns, axis=1).astype(np.int64).reshape(-1, 6)
        parts = _parts(np.append(start, len(blocks)), np.arange(len(blocks) + 1))
        return cls(np.ascontiguousarray(blocks), np.ascontiguousarray(firsts, np.int64), parts)


def tile_attention(
    query: Tensor, key: Tensor, value: Tensor, tiles: Tiles, table: Tensor | None = None, drop: float = 0.0
) -> Tensor:
    """Multi-head attention of every query over its neighbours v:

        out_u = sum_v softmax_v(q_u . (k_v + table[label of the edge]) / sqrt(size)) v_v

    Args:
        query: `[rows, heads, size]`.
        key: `[key rows, heads, size]`.
        value: Like `key`.
        tiles: The neighbours.
        table: `[labels, size]`, what is added to keys by the edge's label; the same for all heads.
        drop: Dropout on the weights.

    Returns:
        `[rows, heads, size]`.
    """
    used = torch.from_numpy(tiles.used)
    rows = query.new_zeros(len(used), query.shape[2]) if table is None else table.index_select(0, used)
    return _TileAttention.apply(query, key, value, rows, tiles, drop, draw(drop))


def tree_attention(query: Tensor, key: Tensor, value: Tensor, trees: Trees, drop: float = 0.0) -> Tensor:
    """Multi-head attention of every span over its tokens.

    Args:
        query: Queries of the spans, `[spans, heads, size]`.
        key: Keys of the tokens, `[rows, heads, size]`.
        value: Like `key`.
        trees: Which tokens each span has.
        drop: Dropout on the weights.

    Returns:
        `[spans, heads, size]`.
    """
    return _TreeAttention.apply(query, key, value, trees, drop, draw(drop))


def draw(drop: float) -> int:
    """A seed from torch's generator, if it is needed."""
    return int(torch.randint(1 << 31, ())) if drop > 0 else 0


class _TileAttention(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        table: Tensor,
        tiles: Tiles,
        drop: float,
        seed: int,
    ) -> Tensor:
        rows = computable(query, key, value, table)
        call = _Call(rows[0], tiles.width, drop, seed)
        out = torch.empty_like(rows[0], memory_format=torch.contiguous_format)
        stats = call.stats()
        scratch = call.scratch(0, table=len(table))
        call.run("forward", [*rows[:3], out], (rows[3],), stats, _plan(tiles), tiles.parts, scratch)
        ctx.save_for_backward(query, key, value, table, out, stats)
        ctx.tiles, ctx.call = tiles, call
        return out.to(query.dtype)

    @staticmethod
    @once_differentiable(_WAY_OUT)
    def backward(ctx, grad: Tensor) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        *inputs, out, stats = ctx.saved_tensors
        q, k, v, table, grad_out = computable(*inputs, grad)
        call, tiles = ctx.call, ctx.tiles
        dq = torch.empty_like(q, memory_format=torch.contiguous_format)
        dk, dv = (torch.zeros_like(x, memory_format=torch.contiguous_format) for x in (k, v))
        parts = len(tiles.parts) - 1
        heads = q.shape[1]
        of_table = q.new_zeros(heads * max(parts, 1), call.padded // call.panel, len(table), call.panel)
        tensors = [q, k, v, out, grad_out, dq, dk, dv]
        scratch = call.scratch(1, table=len(table))
        call.run("backward", tensors, (table, of_table), stats, _plan(tiles), tiles.parts, scratch)
        of_table = of_table.sum(0).transpose(0, 1).flatten(1)[:, : call.size]
        gradients = [x.to(source.dtype) for x, source in zip((dq, dk, dv, of_table), inputs, strict=True)]
        return *gradients, None, None, None


class _TreeAttention(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx, query: Tensor, key: Tensor, value: Tensor, trees: Trees, drop: float, seed: int
    ) -> Tensor:
        rows = computable(query, key, value)
        call = _Call(rows[0], 0, drop, seed)
        out = torch.empty_like(rows[0], memory_format=torch.contiguous_format)
        stats = call.stats()
        scratch = call.tree_scratch(trees)
        call.run(
            "tree_forward", [*rows, out], (), stats, (trees.blocks, trees.firsts), trees.parts, scratch
        )
        ctx.save_for_backward(query, key, value, out, stats)
        ctx.trees, ctx.call = trees, call
        return out.to(query.dtype)

    @staticmethod
    @once_differentiable(_WAY_OUT)
    def backward(ctx, grad: Tensor) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        *inputs, out, stats = ctx.saved_tensors
        *rows, grad_out = computable(*inputs, grad)
        call, trees = ctx.call, ctx.trees
        gradients = [torch.empty_like(x, memory_format=torch.contiguous_format) for x in rows]
        tensors = [*rows, out, grad_out, *gradients]
        plan, scratch = (trees.blocks, trees.firsts), call.tree_scratch(trees)
        call.run("tree_backward", tensors, (), stats, plan, trees.parts, scratch)
        return *(x.to(grad.dtype) for x in gradients), None, None, None


def _plan(tiles: Tiles) -> tuple[np.ndarray, ...]:
    return tiles.tiles, tiles.keys, tiles.labels


class _Call:
    """The numbers that the kernels are called with.

    Args:
        query: `[rows, heads, size]`.
        width: Queries of a tile; 0 for trees.
        drop: Dropout on the weights.
        seed: What is dropped depends on it.
    """

    def __init__(self, query: Tensor, width: int, drop: float, seed: int):
        self.rows, self.heads, self.size = query.shape
        self.lanes = lanes(query.dtype)
        self.width = width
        self.panel = self.lanes * (1 if self.size <= self.lanes else 2)
        self.padded = -(-self.size // self.panel) * self.panel
        self.dtype = query.dtype
        self.threshold = min(int(drop * 2**32), 2**32 - 1)
        self.seed = seed

    def stats(self) -> Tensor:
        """Room for maximum and sum of each row's weights."""
        return torch.empty(2 * (self.heads * self.rows + SPARE), dtype=self.dtype, device="cpu")

    def scratch(self, backward: int, *, table: int) -> int:
        """Numbers of scratch memory that a call for tiles needs."""
        w, p = self.width, self.padded
        if not backward:
            return w * (2 * p + 2 + _KEYS) + _KEYS * p + (table + 1) * w
        return w * (5 * p + 3 + 3 * _KEYS) + _KEYS * (p + self.panel) + 2 * (table + 1) * w

    def tree_scratch(self, trees: Trees) -> int:
        """Numbers of scratch memory that a call for trees needs."""
        n, p = self.lanes, self.padded
        most = len(trees.firsts) + n
        return n * (3 * p + self.panel) + most * (3 * p + 2 * n + 2) + n

    def run(
        self,
        kernel: str,
        tensors: Sequence[Tensor],
        more: Sequence[Tensor],
        stats: Tensor,
        plan: Sequence[np.ndarray],
        parts: Sequence[int],
        scratch: int,
    ) -> None:
        """Call a kernel for all heads and parts, in as many threads as torch would use.

        Args:
            kernel: Its name.
            tensors: `[rows, heads, size]` each.
            more: What else it takes between those that it reads and those that it writes.
            stats: Room for those of each row.
            plan: What is to be computed.
            parts: Where its parts begin.
            scratch: Numbers of scratch memory.
        """
        function: Callable[..., None] = getattr(_library(), kernel)
        steps = np.array([x.stride() for x in tensors], np.int64)
        arrays = [flat(x) for x in tensors]
        if kernel == "forward":
            arrays.insert(3, flat(more[0].contiguous()))
        elif kernel == "backward":
            arrays.insert(3, flat(more[0].contiguous()))
            arrays.append(flat(more[1]))
        columns = max(1, self.width // self.lanes)
        numbers = np.array(
            [self.size, self.padded, self.panel, columns, self.rows, self.seed, self.threshold], np.int64
        )
        ranges = list(pairwise(parts))

        def work(job: tuple[int, tuple[int, int]]) -> None:
            head, (begin, end) = job
            part = ranges.index((begin, end)) * self.heads + head
            place = np.array([head, begin, end, part], np.int64)
            room = np.empty(scratch, arrays[0].dtype)
            function(*arrays, flat(stats), steps, *plan, numbers, place, room)

        threads = torch.get_num_threads() if self.rows * self.heads > _ALONE else 1
        run_jobs(work, product(range(self.heads), ranges), threads)
