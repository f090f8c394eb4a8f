"""The loops of banded attention, in Numba; `headwise.nn.attention.cpu.banded` calls them.

A block of up to two vectors of queries of one head is held with the queries side by side: `[size, width]`,
the feature in the rows and a query in each lane. The keys that any of them sees come by in tiles, so that
logits `[keys, width]`, weights and sums all stay in the first-level cache, whatever the length of the text:

    logits = keys @ block,   sums = values^T @ weights

which is the online softmax of FlashAttention (Dao et al. 2022, Algorithm 1) with the roles of rows and
columns exchanged: nothing is ever summed across the lanes. Keys and values are read where they lie. The
backward pass computes the weights again from each row's maximum and sum, once for the gradients of the
queries (lanes are queries) and once for those of keys and values (lanes are keys): two more products than
with one pass, but every row of a gradient has one owner, so that no result depends on threads.

Arrays are flat. `steps` `[tensors, 3]` has the distance between rows, heads and features of each tensor.
`items` `[items, 8]` says what to do: head, its place among the heads of the values, first row of the text,
its length, positions from and to (the queries, and in the backward pass also the keys, that this item
owns), reach to the left and to the right.
"""

# An intrinsic takes its typing context first, which its callers do not give.
# pyright: reportCallIssue=false

import numpy as np
from numba import float32, float64, int64, njit, void

from headwise.core.numba_cache import compiled_kernel
from headwise.nn.attention.cpu.lane_blocks import expect_rows, lanes_to_rows, rows_to_lanes
from headwise.nn.attention.cpu.online_softmax import (
    LOWEST,
    TILE,
    logit_gradients,
    row_products,
    softmax,
    weigh,
)
from headwise.nn.attention.cpu.products import products
from headwise.nn.attention.cpu.simd import between, counting, lanes, larger, load, splat, store

__all__ = ["SIGNATURES", "backward", "forward", "workspace"]


def workspace(size: int, value_size: int, longest: int) -> int:
    """How many numbers of scratch memory a call needs: sizes of heads, rows of the longest text."""
    return 32 * (2 * size + 2 * value_size + 2 * TILE + 4) + longest


@njit
def _columns(length, left, right):
    """Vectors in a block: narrow bands waste less of a narrow block."""
    return 2 if left + right >= 16 and length > 16 else 1


@njit
def _restrict(tile, rows, columns, first, place, before, after, slope):
    """Add the slope to logits `[rows, width]` and take out what is not seen.

    Row r is the position `first + r`, lane i the position `place + i`; they see each other where the lane's
    position is at most `before` in front of the row's and at most `after` behind it.
    """
    n = lanes(tile)
    width = columns * n
    inside = place >= first + rows - 1 - before and place + width - 1 <= first + after
    if inside and slope == 0.0:
        return
    zero, hidden, steep = splat(tile, 0.0), splat(tile, -np.inf), splat(tile, -slope)
    for column in range(columns):
        lane = counting(tile) + splat(tile, place + column * n)
        for r in range(rows):
            at = r * width + column * n
            x = load(tile, at)
            if slope != 0.0:
                away = lane - splat(tile, first + r)
                x = x + steep * larger(away, zero - away)
            if not inside:
                x = between(
                    splat(tile, first + r - before), lane, splat(tile, first + r + after), x, hidden
                )
            store(tile, at, x)


def _signature(dtype, tensors):
    """`tensors` flat arrays, steps, items, slopes, three numbers, scratch memory."""
    return void(
        *[dtype[::1]] * tensors, int64[:, ::1], int64[:, ::1], float64[::1], *[int64] * 3, dtype[::1]
    )


@compiled_kernel(required=True)
def forward(q, k, v, out, stats, steps, items, slopes, size, value_size, total, work):
    """Attention of all `items`: writes `out` and, for each head and row, `stats` `[2, heads, total]` (the
    maximum of its logits and 1 / the sum of its weights relative to that; both 0 of a row without keys)."""
    n = lanes(q)
    scale = 1 / np.sqrt(size)
    block = work[: 2 * n * size]
    sums = work[2 * n * size : 2 * n * (size + value_size)]
    state = work[2 * n * (size + value_size) : 2 * n * (size + value_size + 2)]
    tile = work[2 * n * (size + value_size + 2) :]
    for item in range(items.shape[0]):
        head, value_head, start, length, begin, end, left, right = items[item]
        columns = _columns(length, left, right)
        width = columns * n
        q_at, k_at = [head * steps[x, 1] + start * steps[x, 0] for x in (0, 1)]
        v_at, out_at = [value_head * steps[x, 1] + start * steps[x, 0] for x in (2, 3)]
        stat_at = head * total + start
        if item + 1 < items.shape[0]:
            next_head, next_value_head, next_start, _, first, last, _, _ = items[item + 1]
            last = min(last, first + width)
            expect_rows(q, steps[0], next_head, next_start, first, last, size)
            expect_rows(k, steps[1], next_head, next_start, first, last, size)
            expect_rows(v, steps[2], next_value_head, next_start, first, last, value_size)
        for place in range(begin, end, width):
            rows = min(width, end - place)
            rows_to_lanes(q, q_at + place * steps[0, 0], steps[0], rows, size, size, scale, block, width)
            sums[: width * value_size] = 0.0
            state[:width] = LOWEST
            state[width : 2 * width] = 0.0
            stop = min(length, place + rows + right)
            expect_rows(q, steps[0], head, start, place + width, min(end, place + 2 * width), size)
            expect_rows(k, steps[1], head, start, stop, min(length, stop + width), size)
            expect_rows(v, steps[2], value_head, start, stop, min(length, stop + width), value_size)
            for first in range(max(0, place - left), stop, TILE):
                keys = min(TILE, stop - first)
                products(
                    k, k_at + first * steps[1, 0], steps[1, 0], steps[1, 2],
                    block, width, size, tile, 0, keys, columns, False,
                )  # fmt: skip
                _restrict(tile, keys, columns, first, place, right, left, slopes[head])
                softmax(tile, keys, columns, state, sums, value_size)
                products(
                    v, v_at + first * steps[2, 0], steps[2, 2], steps[2, 0],
                    tile, width, keys, sums, 0, value_size, columns, True,
                )  # fmt: skip
            for i in range(rows):
                weight = state[width + i]
                inverse = 1 / weight if weight > 0 else weight
                state[width + i] = inverse
                stats[stat_at + place + i] = state[i] if weight > 0 else 0
                stats[stats.shape[0] // 2 + stat_at + place + i] = inverse
            for at in range(0, width, n):
                inverses = load(state, width + at)
                for c in range(value_size):
                    store(sums, c * width + at, load(sums, c * width + at) * inverses)
            lanes_to_rows(sums, width, rows, value_size, 1.0, out, out_at + place * steps[3, 0], steps[3])


@compiled_kernel(required=True)
def backward(q, k, v, out, grad, dq, dk, dv, stats, steps, items, slopes, size, value_size, total, work):
    """Gradients of all `items`: `grad` is that of `out`; writes `dq`, `dk` and `dv`."""
    n = lanes(q)
    scale = 1 / np.sqrt(size)
    most = 2 * n
    first_block, second_block = work[: most * size], work[most * size : most * (size + value_size)]
    work = work[most * (size + value_size) :]
    sums, value_sums = work[: most * size], work[most * size : most * (size + value_size)]
    work = work[most * (size + value_size) :]
    weights, tile, deltas = (
        work[: most * TILE],
        work[most * TILE : 2 * most * TILE],
        work[2 * most * TILE :],
    )
    half = stats.shape[0] // 2
    for item in range(items.shape[0]):
        head, value_head, start, length, begin, end, left, right = items[item]
        columns = _columns(length, left, right)
        width = columns * n
        q_at, k_at, dq_at, dk_at = [head * steps[x, 1] + start * steps[x, 0] for x in (0, 1, 5, 6)]
        v_at, grad_at, dv_at = [value_head * steps[x, 1] + start * steps[x, 0] for x in (2, 4, 7)]
        tops, inverses = stats[head * total + start : half], stats[half + head * total + start :]
        # The queries that see the keys of this item, and those that it owns.
        low = min(begin, max(0, begin - right))
        high = max(end, min(length, end + left))
        if item + 1 < items.shape[0]:
            next_head, next_value_head, next_start, _, first, last, _, _ = items[item + 1]
            last = min(last, first + width)
            expect_rows(q, steps[0], next_head, next_start, first, last, size)
            expect_rows(k, steps[1], next_head, next_start, first, last, size)
            expect_rows(v, steps[2], next_value_head, next_start, first, last, value_size)
            expect_rows(out, steps[3], next_value_head, next_start, first, last, value_size)
            expect_rows(grad, steps[4], next_value_head, next_start, first, last, value_size)
        row_products(out, steps[3], grad, steps[4], value_head, start, low, high, value_size, deltas)
        for place in range(begin, end, width):  # the gradients of queries: lanes are queries, rows are keys
            rows = min(width, end - place)
            rows_to_lanes(
                q, q_at + place * steps[0, 0], steps[0], rows, size, size, scale, first_block, width
            )
            rows_to_lanes(
                grad,
                grad_at + place * steps[4, 0],
                steps[4],
                rows,
                value_size,
                value_size,
                1.0,
                second_block,
                width,
            )
            sums[: width * size] = 0.0
            stop = min(length, place + rows + right)
            expect_rows(q, steps[0], head, start, place + width, min(end, place + 2 * width), size)
            expect_rows(k, steps[1], head, start, stop, min(length, stop + width), size)
            expect_rows(v, steps[2], value_head, start, stop, min(length, stop + width), value_size)
            for first in range(max(0, place - left), stop, TILE):
                count = min(TILE, stop - first)
                k_here, v_here = k_at + first * steps[1, 0], v_at + first * steps[2, 0]
                products(
                    k, k_here, steps[1, 0], steps[1, 2],
                    first_block, width, size, weights, 0, count, columns, False,
                )  # fmt: skip
                _restrict(weights, count, columns, first, place, right, left, slopes[head])
                weigh(weights, count, columns, True, tops, inverses, place)
                products(
                    v, v_here, steps[2, 0], steps[2, 2],
                    second_block, width, value_size, tile, 0, count, columns, False,
                )  # fmt: skip
                logit_gradients(weights, tile, count, columns, True, deltas, place - low)
                products(
                    k, k_here, steps[1, 2], steps[1, 0],
                    tile, width, count, sums, 0, size, columns, True,
                )  # fmt: skip
            lanes_to_rows(sums, width, rows, size, scale, dq, dq_at + place * steps[5, 0], steps[5])
        for place in range(begin, end, width):  # of keys and values: lanes are keys, rows are queries
            rows = min(width, end - place)
            rows_to_lanes(
                k, k_at + place * steps[1, 0], steps[1], rows, size, size, scale, first_block, width
            )
            rows_to_lanes(
                v,
                v_at + place * steps[2, 0],
                steps[2],
                rows,
                value_size,
                value_size,
                1.0,
                second_block,
                width,
            )
            sums[: width * size] = 0.0
            value_sums[: width * value_size] = 0.0
            stop = min(length, place + rows + left)
            for first in range(max(0, place - right), stop, TILE):
                count = min(TILE, stop - first)
                q_here, grad_here = q_at + first * steps[0, 0], grad_at + first * steps[4, 0]
                products(
                    q, q_here, steps[0, 0], steps[0, 2],
                    first_block, width, size, weights, 0, count, columns, False,
                )  # fmt: skip
                _restrict(weights, count, columns, first, place, left, right, slopes[head])
                weigh(weights, count, columns, False, tops, inverses, first)
                products(
                    grad, grad_here, steps[4, 2], steps[4, 0],
                    weights, width, count, value_sums, 0, value_size, columns, True,
                )  # fmt: skip
                products(
                    grad, grad_here, steps[4, 0], steps[4, 2],
                    second_block, width, value_size, tile, 0, count, columns, False,
                )  # fmt: skip
                logit_gradients(weights, tile, count, columns, False, deltas, first - low)
                products(
                    q, q_here, steps[0, 2], steps[0, 0],
                    tile, width, count, sums, 0, size, columns, True,
                )  # fmt: skip
            lanes_to_rows(sums, width, rows, size, scale, dk, dk_at + place * steps[6, 0], steps[6])
            lanes_to_rows(
                value_sums, width, rows, value_size, 1.0, dv, dv_at + place * steps[7, 0], steps[7]
            )


SIGNATURES = {
    kernel: [_signature(dtype, tensors) for dtype in (float32, float64)]
    for kernel, tensors in ((forward, 5), (backward, 9))
}
