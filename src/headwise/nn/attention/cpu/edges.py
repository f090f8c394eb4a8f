"""Attention along edges, on the CPU, straight on ragged rows: no gathered copies, no [rows, degree].

The same mathematics as `headwise.nn.attention.graph_attention.graph_attention`, and attention of the
spans of binary trees, with the kernels of `native/edge_attention.cpp` and `native/tree_attention.cpp`.
Results do not depend on the number of threads, nor on the texts beside a text.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
import torch
from torch import Tensor

from headwise.core import native
from headwise.core.errors import ConfigError
from headwise.core.threads import run_jobs
from headwise.nn.kernel_rows import (
    VARIABLE,
    arrays_of,
    computable,
    empty_statistics,
    switched_off_reason,
    unsupported_rows_reason,
)
from headwise.nn.layout import Layout
from headwise.nn.torch_modes import once_differentiable

_PARTS = 4  # of a batch, for threads: whole texts, as many of them for every number of threads
_ALONE = 4_000  # rows times heads from which more threads than one are worth it
_MOST_LABELS = 2**15 - 2
_WAY_OUT = f"with {VARIABLE}=off in the environment it is computed by operations that can be"


def unsupported_reason(rows: Tensor) -> str | None:
    """Why the kernels cannot compute queries, keys and values like these; None if they can."""
    return unsupported_rows_reason(rows) or switched_off_reason()


def lanes(dtype: torch.dtype) -> int:
    """The number of values in a vector of the kernels, for a dtype that `unsupported_reason` accepts."""
    return native.vector_bytes() // (8 if dtype == torch.float64 else 4)


@dataclass(frozen=True)
class Tiles:
    """Neighbouring queries with all keys that any of them sees.

    Attributes:
        width: Queries of a tile, in the lanes of one or two vectors.
        tiles: `[tiles, 5]`, see `Tile` in `native/attention.h`.
        keys: The rows of the keys, tile by tile.
        labels: `[keys, width]`, for each key and each query of its tile 1 + the place of the edge's label
            among `used`; 0 where there is no edge.
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
        parts = _cut_by_cost(np.append(start, len(tiles)), np.append(tiles[:, 2], len(keys)))
        return cls(width, tiles, keys.astype(np.int32), labels, used, parts)


def _cut_by_cost(starts: np.ndarray, costs: np.ndarray) -> list[int]:
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
        blocks: `[blocks, 6]`, see `TreeBlock` in `native/attention.h`.
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
        parts = _cut_by_cost(np.append(start, len(blocks)), np.arange(len(blocks) + 1))
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
    return _TileAttention.apply(query, key, value, rows, tiles, drop, draw_seed(drop))


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
    return _TreeAttention.apply(query, key, value, trees, drop, draw_seed(drop))


def draw_seed(drop: float) -> int:
    """A seed from torch's generator, if it is needed."""
    return int(torch.randint(1 << 31, ())) if drop > 0 else 0


class _TileAttention(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx, query: Tensor, key: Tensor, value: Tensor, table: Tensor, tiles: Tiles, drop: float, seed: int
    ) -> Tensor:
        q, k, v, labels = computable(query, key, value, table)
        out = torch.empty_like(q, memory_format=torch.contiguous_format)
        stats = empty_statistics(q)
        arrays = arrays_of(q, k, v, labels.contiguous(), out, stats)
        dropout = seed, _threshold(drop)
        kernel: Callable[..., None] = native.tile_forward

        def work(head: int, part: int, *places: int) -> None:
            kernel(*arrays, tiles.tiles, tiles.keys, tiles.labels, head, *places, *dropout)

        _run_in_threads(work, q, tiles.parts)
        ctx.save_for_backward(query, key, value, table, out, stats)
        ctx.tiles, ctx.dropout = tiles, dropout
        return out.to(query.dtype)

    @staticmethod
    @once_differentiable(_WAY_OUT)
    def backward(ctx, *grad_outputs: Tensor) -> tuple[Tensor | None, ...]:
        (grad,) = grad_outputs
        *inputs, out, stats = ctx.saved_tensors
        q, k, v, table, grad_out = computable(*inputs, grad)
        tiles, dropout = ctx.tiles, ctx.dropout
        dq = torch.empty_like(q, memory_format=torch.contiguous_format)
        dk, dv = (torch.zeros_like(x, memory_format=torch.contiguous_format) for x in (k, v))
        table_parts = q.new_zeros(max(len(tiles.parts) - 1, 1), q.shape[1], *table.shape)
        arrays = arrays_of(q, k, v, table.contiguous(), out, grad_out, dq, dk, dv)
        of_table, statistics = arrays_of(table_parts, stats)
        kernel: Callable[..., None] = native.tile_backward

        def work(head: int, part: int, *places: int) -> None:
            plan = tiles.tiles, tiles.keys, tiles.labels
            kernel(*arrays, of_table[part, head], statistics, *plan, head, *places, *dropout)

        _run_in_threads(work, q, tiles.parts)
        gradients = dq, dk, dv, table_parts.sum((0, 1))
        return *(x.to(source.dtype) for x, source in zip(gradients, inputs, strict=True)), None, None, None


class _TreeAttention(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx, query: Tensor, key: Tensor, value: Tensor, trees: Trees, drop: float, seed: int
    ) -> Tensor:
        q, k, v = computable(query, key, value)
        out = torch.empty_like(q, memory_format=torch.contiguous_format)
        stats = empty_statistics(q)
        arrays = arrays_of(q, k, v, out, stats)
        dropout = seed, _threshold(drop)
        kernel: Callable[..., None] = native.tree_forward

        def work(head: int, part: int, *places: int) -> None:
            kernel(*arrays, trees.blocks, trees.firsts, head, *places, *dropout)

        _run_in_threads(work, q, trees.parts)
        ctx.save_for_backward(query, key, value, out, stats)
        ctx.trees, ctx.dropout = trees, dropout
        return out.to(query.dtype)

    @staticmethod
    @once_differentiable(_WAY_OUT)
    def backward(ctx, *grad_outputs: Tensor) -> tuple[Tensor | None, ...]:
        (grad,) = grad_outputs
        *inputs, out, stats = ctx.saved_tensors
        *rows, grad_out = computable(*inputs, grad)
        trees, dropout = ctx.trees, ctx.dropout
        gradients = [torch.empty_like(x, memory_format=torch.contiguous_format) for x in rows]
        arrays = arrays_of(*rows, out, grad_out, *gradients, stats)
        kernel: Callable[..., None] = native.tree_backward

        def work(head: int, part: int, *places: int) -> None:
            kernel(*arrays, trees.blocks, trees.firsts, head, *places, *dropout)

        _run_in_threads(work, rows[0], trees.parts)
        return *(x.to(grad.dtype) for x in gradients), None, None, None


def _threshold(drop: float) -> int:
    """Which of 2^32 random numbers drop a weight: those below."""
    return min(int(drop * 2**32), 2**32 - 1)


def _run_in_threads(work: Callable[..., None], query: Tensor, parts: Sequence[int]) -> None:
    """Call `work(head, part, first, end)` for all heads and parts of the work items, in as many threads as
    torch would use."""
    rows, heads, _ = query.shape
    threads = torch.get_num_threads() if rows * heads > _ALONE else 1
    jobs = product(range(heads), enumerate(pairwise(parts)))
    run_jobs(lambda job: work(job[0], job[1][0], *job[1][1]), jobs, threads)
