"""The loops of attention along edges, in Numba; `headwise.nn.attention.cpu.edges` calls them.

Tiles: neighbouring queries of one head are held with the queries side by side, `[size, width]`, one in each
lane, as in `headwise.nn.attention.cpu.banded_kernels`. The keys that any of them sees come by in
portions, copied from where they lie. Which lane sees which key, and by what relation, is a number for
each key and lane: the row of `relations [labels + 1, width]` to add to the logit, query times label
vector, or -inf in row 0.

Weights are dropped at random by a number that head, key and lane make up, so that the backward pass finds
the same ones again. Rows that are summed over keys are copied in panels, `[size / panel, rows, panel]`,
of one or two vectors: the most that `products` takes. Every row of a gradient has one owner.
"""

# An intrinsic takes its typing context first, which its callers do not give.
# pyright: reportCallIssue=false

import numpy as np
from numba import float32, float64, int16, int32, int64, void

from headwise.core.numba_cache import compiled_kernel
from headwise.nn.attention.cpu.lane_blocks import (
    add_row,
    copy_neighbours,
    copy_rows,
    drop_out,
    expect_numbered,
    expect_rows,
    lanes_to_rows,
    make_relations,
    mix_rows,
    relate,
    rows_to_lanes,
    score_rows,
    sum_relations,
)
from headwise.nn.attention.cpu.online_softmax import (
    LOWEST,
    TILE,
    logit_gradients,
    row_products,
    softmax,
    weigh,
)
from headwise.nn.attention.cpu.products import products
from headwise.nn.attention.cpu.simd import BYTES, lanes, load, store
from headwise.nn.attention.cpu.tree_kernels import tree_backward, tree_forward

__all__ = ["SIGNATURES", "backward", "forward", "lanes_of", "tree_backward", "tree_forward"]


def lanes_of(itemsize: int) -> int:
    """Numbers in a vector."""
    return BYTES // itemsize


@compiled_kernel(required=True)
def forward(q, k, v, table, out, stats, steps, tiles, keys, labels, numbers, job, work):
    """Attention of the tiles `job[1]` to `job[2]` in the head `job[0]`: writes `out` and `stats`
    `[2, heads, rows]` (the maximum of each row's logits, and 1 / the sum of its weights).

    `tiles` `[tiles, 5]` has the first query, how many there are, the first of the tile's keys, how many
    these are, and the labels that occur. `numbers`: features of a head; these in whole panels; of a
    panel; vectors in a block; queries in all; seed and threshold of the dropout.
    """
    size, padded, panel, columns, rows_in_all, seed, threshold = numbers
    head, n = job[0], lanes(q)
    width = columns * n
    scale = 1 / np.sqrt(size)
    block, work = work[: padded * width], work[padded * width :]
    sums, work = work[: padded * width], work[padded * width :]
    state, work = work[: 2 * width], work[2 * width :]
    tile, work = work[: TILE * width], work[TILE * width :]
    rows, relations = work[: TILE * padded], work[TILE * padded :]
    rows[:] = 0.0
    half = stats.shape[0] // 2
    k_at, v_at = head * steps[1, 1], head * steps[2, 1]
    for number in range(job[1], job[2]):
        first, count, begin, seen, label_count = tiles[number]
        if number + 1 < job[2]:
            next_first, next_count, next_begin, next_seen, _ = tiles[number + 1]
            expect_rows(q, steps[0], head, 0, next_first, next_first + next_count, size)
            expect_numbered(k, k_at, steps[1], keys, next_begin, next_begin + next_seen, size)
            expect_numbered(v, v_at, steps[2], keys, next_begin, next_begin + next_seen, size)
        q_at = head * steps[0, 1] + first * steps[0, 0]
        rows_to_lanes(q, q_at, steps[0], count, size, padded, scale, block, width)
        make_relations(table, block, width, columns, size, label_count, relations)
        sums[:] = 0.0
        state[:width] = LOWEST
        state[width:] = 0.0
        for part in range(begin, begin + seen, TILE):
            tile_rows = min(TILE, begin + seen - part)
            copy_rows(k, k_at, steps[1], keys, part, tile_rows, size, panel, TILE, rows)
            score_rows(rows, TILE, tile_rows, block, width, columns, padded, panel, tile)
            relate(tile, tile_rows, width, labels, part * width, relations)
            softmax(tile, tile_rows, columns, state, sums, padded)
            if threshold:
                place = (head * keys.shape[0] + part) * width
                drop_out(tile, tile, tile_rows * width, seed, place, threshold)
            copy_rows(v, v_at, steps[2], keys, part, tile_rows, size, panel, TILE, rows)
            mix_rows(rows, TILE, tile_rows, tile, width, columns, padded, panel, sums)
        for i in range(count):
            weight = state[width + i]
            stats[head * rows_in_all + first + i] = state[i]
            stats[half + head * rows_in_all + first + i] = 1 / weight
        for at in range(0, width, n):
            for i in range(at, at + n):
                state[width + i] = 1 / max(state[width + i], out.dtype.type(1e-30))
            inverses = load(state, width + at)
            for c in range(size):
                store(sums, c * width + at, load(sums, c * width + at) * inverses)
        out_at = head * steps[3, 1] + first * steps[3, 0]
        lanes_to_rows(sums, width, count, size, 1.0, out, out_at, steps[3])


@compiled_kernel(required=True)
def backward(
    q, k, v, table, out, grad, dq, dk, dv, dtable, stats, steps, tiles, keys, labels, numbers, job, work
):
    """Gradients: writes `dq`, and adds to `dk`, `dv` and the `job[3]`-th part of `dtable`
    `[parts, size / panel, labels, panel]`."""
    size, padded, panel, columns, rows_in_all, seed, threshold = numbers
    head, n = job[0], lanes(q)
    width = columns * n
    scale = 1 / np.sqrt(size)
    block, work = work[: padded * width], work[padded * width :]
    grads, work = work[: padded * width], work[padded * width :]
    sums, work = work[: padded * width], work[padded * width :]
    q_rows, work = work[: padded * width], work[padded * width :]
    grad_rows, work = work[: padded * width], work[padded * width :]
    tops, work = work[:width], work[width:]
    inverses, work = work[:width], work[width:]
    deltas, work = work[:width], work[width:]
    weights, work = work[: TILE * width], work[TILE * width :]
    tile, work = work[: TILE * width], work[TILE * width :]
    dropped, work = work[: TILE * width], work[TILE * width :]
    rows, work = work[: TILE * padded], work[TILE * padded :]
    new, work = work[: TILE * panel], work[TILE * panel :]
    most = table.shape[0] // size
    relations, of_relations = work[: (most + 1) * width], work[(most + 1) * width :]
    rows[:] = 0.0
    q_rows[:] = 0.0
    grad_rows[:] = 0.0
    half = stats.shape[0] // 2
    k_at, v_at = head * steps[1, 1], head * steps[2, 1]
    dk_at, dv_at = head * steps[6, 1], head * steps[7, 1]
    for number in range(job[1], job[2]):
        first, count, begin, seen, label_count = tiles[number]
        if number + 1 < job[2]:
            next_first, next_count, next_begin, next_seen, _ = tiles[number + 1]
            for x, rows_of in ((0, q), (3, out), (4, grad)):
                expect_rows(rows_of, steps[x], head, 0, next_first, next_first + next_count, size)
            for x, rows_of in ((1, k), (2, v), (6, dk), (7, dv)):
                expect_numbered(
                    rows_of, head * steps[x, 1], steps[x], keys, next_begin, next_begin + next_seen, size
                )
        q_at = head * steps[0, 1] + first * steps[0, 0]
        grad_at = head * steps[4, 1] + first * steps[4, 0]
        rows_to_lanes(q, q_at, steps[0], count, size, padded, scale, block, width)
        rows_to_lanes(grad, grad_at, steps[4], count, size, padded, 1.0, grads, width)
        copy_neighbours(q, q_at, steps[0], count, size, panel, width, scale, q_rows)
        copy_neighbours(grad, grad_at, steps[4], count, size, panel, width, 1.0, grad_rows)
        make_relations(table, block, width, columns, size, label_count, relations)
        of_relations[: (label_count + 1) * width] = 0.0
        sums[:] = 0.0
        row_products(out, steps[3], grad, steps[4], head, 0, first, first + count, size, deltas)
        for i in range(width):
            here = head * rows_in_all + first + min(i, count - 1)
            tops[i] = stats[here]
            inverses[i] = stats[half + here]
            deltas[i] = deltas[min(i, count - 1)]
        for part in range(begin, begin + seen, TILE):
            tile_rows = min(TILE, begin + seen - part)
            copy_rows(k, k_at, steps[1], keys, part, tile_rows, size, panel, TILE, rows)
            score_rows(rows, TILE, tile_rows, block, width, columns, padded, panel, weights)
            relate(weights, tile_rows, width, labels, part * width, relations)
            weigh(weights, tile_rows, columns, True, tops, inverses, 0)
            copy_rows(v, v_at, steps[2], keys, part, tile_rows, size, panel, TILE, rows)
            score_rows(rows, TILE, tile_rows, grads, width, columns, padded, panel, tile)
            if threshold:
                place = (head * keys.shape[0] + part) * width
                drop_out(tile, tile, tile_rows * width, seed, place, threshold)
                drop_out(weights, dropped, tile_rows * width, seed, place, threshold)
            for c in range(0, size, panel):
                products(
                    dropped if threshold else weights, 0, width, 1,
                    grad_rows[c * width :], panel, width, new, 0, tile_rows, panel // n, False,
                )  # fmt: skip
                for r in range(tile_rows):
                    to = dv_at + keys[part + r] * steps[7, 0] + c * steps[7, 2]
                    add_row(new, r * panel, min(panel, size - c), dv, to, steps[7, 2])
            logit_gradients(weights, tile, tile_rows, columns, True, deltas, 0)
            sum_relations(tile, tile_rows, width, labels, part * width, of_relations)
            copy_rows(k, k_at, steps[1], keys, part, tile_rows, size, panel, TILE, rows)
            mix_rows(rows, TILE, tile_rows, tile, width, columns, padded, panel, sums)
            for c in range(0, size, panel):
                products(
                    tile,
                    0,
                    width,
                    1,
                    q_rows[c * width :],
                    panel,
                    width,
                    new,
                    0,
                    tile_rows,
                    panel // n,
                    False,
                )
                for r in range(tile_rows):
                    to = dk_at + keys[part + r] * steps[6, 0] + c * steps[6, 2]
                    add_row(new, r * panel, min(panel, size - c), dk, to, steps[6, 2])
        of_labels = of_relations[width:]
        products(table, 0, 1, size, of_labels, width, label_count, sums, 0, size, columns, True)
        for c in range(0, size, panel):
            products(
                of_labels, 0, width, 1, q_rows[c * width :], panel, width,
                dtable, (job[3] * padded + c) * most, label_count, panel // n, True,
            )  # fmt: skip
        dq_at = head * steps[5, 1] + first * steps[5, 0]
        lanes_to_rows(sums, width, count, size, scale, dq, dq_at, steps[5])


def _signatures(tensors, plan):
    return [
        void(*[dtype[::1]] * tensors, int64[:, ::1], *plan, int64[::1], int64[::1], dtype[::1])
        for dtype in (float32, float64)
    ]


TILES, _TREES = (int64[:, ::1], int32[::1], int16[::1]), (int64[:, ::1], int64[:, ::1])
SIGNATURES = {
    forward: _signatures(6, TILES),
    backward: _signatures(11, TILES),
    tree_forward: _signatures(5, _TREES),
    tree_backward: _signatures(9, _TREES),
}
