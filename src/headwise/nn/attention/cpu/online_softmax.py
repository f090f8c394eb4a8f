"""The softmax of a tile of logits `[rows, width]` whose rows come by in portions, and its gradients."""

# An intrinsic takes its typing context first, which its callers do not give.
# pyright: reportCallIssue=false

from numba import njit

from headwise.nn.attention.cpu.lane_blocks import expect_rows
from headwise.nn.attention.cpu.simd import exp, lanes, larger, load, splat, store

TILE = 64  # keys at a time
LOWEST = -3e38  # the maximum of no logits: finite, as -inf - -inf is NaN


@njit
def softmax(tile, rows, columns, state, sums, size):
    """Logits to weights relative to each lane's maximum so far, and what was summed before to the same.

    `state` `[2, width]` has the maximum and the sum of the weights of each lane, `sums` `[size, width]`
    that of the weighted values.
    """
    n = lanes(tile)
    width = columns * n
    for at in range(0, width, n):
        before = load(state, at)
        top = before
        for r in range(rows):
            top = larger(load(tile, r * width + at), top)
        total = splat(tile, 0.0)
        for r in range(rows):
            weight = exp(load(tile, r * width + at) - top)
            store(tile, r * width + at, weight)
            total = total + weight
        fade = exp(before - top)
        store(state, at, top)
        store(state, width + at, load(state, width + at) * fade + total)
        for c in range(size):
            store(sums, c * width + at, load(sums, c * width + at) * fade)


@njit
def weigh(tile, rows, columns, by_lane, tops, inverses, at):
    """Logits to weights, from the maximum and 1 / sum of each lane or row, which begin at `at`."""
    n = lanes(tile)
    width = columns * n
    for column in range(0, width, n):
        top, inverse = load(tops, at + column), load(inverses, at + column)
        for r in range(rows):
            if not by_lane:
                top, inverse = splat(tile, tops[at + r]), splat(tile, inverses[at + r])
            x = r * width + column
            store(tile, x, exp(load(tile, x) - top) * inverse)


@njit
def logit_gradients(weights, tile, rows, columns, by_lane, deltas, at):
    """Gradients of the weights, in `tile`, to those of the logits (softmax backwards)."""
    n = lanes(tile)
    width = columns * n
    for column in range(0, width, n):
        delta = load(deltas, at + column)
        for r in range(rows):
            if not by_lane:
                delta = splat(tile, deltas[at + r])
            x = r * width + column
            store(tile, x, load(weights, x) * (load(tile, x) - delta))


@njit(fastmath={"reassoc", "contract"})
def row_products(a, a_step, b, b_step, head, start, first, end, size, out):
    """`out[i - first] = sum over c of a[i, c] * b[i, c]` for the rows from `first` to `end` of a text."""
    a_at = head * a_step[1] + start * a_step[0]
    b_at = head * b_step[1] + start * b_step[0]
    for i in range(first, end):
        ahead = i + 16
        expect_rows(a, a_step, head, start, ahead, min(end, ahead + 1), size)
        expect_rows(b, b_step, head, start, ahead, min(end, ahead + 1), size)
        total = out.dtype.type(0)
        for c in range(size):
            total += a[a_at + i * a_step[0] + c * a_step[2]] * b[b_at + i * b_step[0] + c * b_step[2]]
        out[i - first] = total
