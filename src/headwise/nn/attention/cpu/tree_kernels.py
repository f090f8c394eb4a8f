"""The loops of attention of the spans of binary trees over their tokens, in Numba, part of the library of
`headwise.nn.attention.cpu.edge_kernels`.

Each span is a query that sees its tokens. The tokens come by once, a vector of them at a time, side by side
in the lanes; the spans above them are the rows of small matrices, `[spans, tokens]`. Spans larger than a
vector keep their sums from one vector to the next. Weights are dropped and rows copied as there.
"""

# An intrinsic takes its typing context first, which its callers do not give.
# pyright: reportCallIssue=false

import numpy as np
from numba import njit

from headwise.core.numba_cache import compiled_kernel
from headwise.nn.attention.cpu.lane_blocks import (
    copy_neighbours,
    copy_rows,
    dropout_factors,
    expect_rows,
    highest,
    rows_to_lanes,
    score_rows,
    total,
)
from headwise.nn.attention.cpu.online_softmax import LOWEST, row_products
from headwise.nn.attention.cpu.products import products
from headwise.nn.attention.cpu.simd import between, counting, exp, lanes, load, splat, store


@njit
def _spans_over(place, count, length, height, text, firsts, rows, begins, ends, fresh, done, n):
    """The spans over the tokens `place` to `place + count` of a text, those of more than `n` tokens first:
    their rows, which of these tokens they have, whether these are their first and their last ones. Gives
    how many there are, and how many of those first ones."""
    spans = outer = 0
    inner = 0
    while (1 << inner) < n:
        inner += 1
    for level in range(inner + 1, height + 1):
        node = place >> level
        rows[spans] = firsts[level, text] + node
        begins[spans], ends[spans] = 0, count
        fresh[spans] = place == node << level
        done[spans] = place + count >= min(length, (node + 1) << level)
        spans += 1
    outer = spans
    for level in range(1, min(inner, height) + 1):
        for node in range(place >> level, ((place + count - 1) >> level) + 1):
            rows[spans] = firsts[level, text] + node
            begins[spans] = max(0, (node << level) - place)
            ends[spans] = min(count, ((node + 1) << level) - place)
            fresh[spans] = done[spans] = True
            spans += 1
    return spans, outer


@njit
def _hide(tile, r, begin, end):
    """A row of logits, -inf in the lanes outside."""
    n = lanes(tile)
    low, high = splat(tile, begin), splat(tile, end - 1)
    return between(low, counting(tile), high, load(tile, r * n), splat(tile, -np.inf))


@compiled_kernel(required=True)
def tree_forward(q, k, v, out, stats, steps, blocks, firsts, numbers, job, work):
    """Attention of the spans over the blocks `job[1]` to `job[2]` in the head `job[0]`; blocks of a text
    stand together.

    `blocks` `[blocks, 6]` has the first row of a vector of tokens, how many these are, their place in the
    text, the text's length, the level of its root, its number. `firsts` `[levels, texts]`: the row of each
    level's first span. `numbers` are as for `forward`, with the spans in all in the place of the queries.
    """
    size, padded, panel, _, spans_in_all, seed, threshold = numbers
    head, n = job[0], lanes(q)
    scale = 1 / np.sqrt(size)
    most = firsts.shape[0] + n
    rows, begins, ends = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    fresh, done = np.empty(most, np.bool_), np.empty(most, np.bool_)
    block, work = work[: padded * n], work[padded * n :]
    q_rows, work = work[: padded * most], work[padded * most :]
    v_rows, work = work[: padded * n], work[padded * n :]
    tile, work = work[: most * n], work[most * n :]
    tops, work = work[:most], work[most:]
    weights, sums = work[:most], work[most : most + padded * most]
    q_rows[:] = 0.0
    v_rows[:] = 0.0
    half = stats.shape[0] // 2
    for number in range(job[1], job[2]):
        first, count, place, length, height, text = blocks[number]
        spans, _ = _spans_over(
            place, count, length, height, text, firsts, rows, begins, ends, fresh, done, n
        )
        if not spans:
            continue
        rows_to_lanes(
            k, head * steps[1, 1] + first * steps[1, 0], steps[1], count, size, padded, scale, block, n
        )
        v_at = head * steps[2, 1] + first * steps[2, 0]
        if number + 1 < job[2]:
            expect_rows(k, steps[1], head, 0, blocks[number + 1, 0], blocks[number + 1, 0] + n, size)
            expect_rows(v, steps[2], head, 0, blocks[number + 1, 0], blocks[number + 1, 0] + n, size)
        copy_neighbours(v, v_at, steps[2], count, size, panel, n, 1.0, v_rows)
        copy_rows(q, head * steps[0, 1], steps[0], rows, 0, spans, size, panel, most, q_rows)
        score_rows(q_rows, most, spans, block, n, 1, padded, panel, tile)
        for r in range(spans):
            x = _hide(tile, r, begins[r], ends[r])
            if fresh[r]:
                tops[r], weights[r] = LOWEST, 0.0
            top = max(tops[r], highest(x))
            fade = np.exp(tops[r] - top)
            x = exp(x - splat(tile, top))
            tops[r], weights[r] = top, weights[r] * fade + total(x)
            if threshold:
                factor = tile.dtype.type(4294967296.0 / (4294967296.0 - threshold))
                index = ((head * blocks.shape[0] + number) * most + r) * n
                x = x * dropout_factors(tile, seed, index, threshold, factor)
            store(tile, r * n, x)
            for c in range(0, padded, panel):
                for at in range((c * most) + r * panel, (c * most) + (r + 1) * panel, n):
                    store(sums, at, splat(sums, 0.0) if fresh[r] else load(sums, at) * splat(sums, fade))
        for c in range(0, padded, panel):
            products(tile, 0, n, 1, v_rows[c * n :], panel, n, sums, c * most, spans, panel // n, True)
        for r in range(spans):
            if done[r]:
                inverse = 1 / weights[r]
                stats[head * spans_in_all + rows[r]] = tops[r]
                stats[half + head * spans_in_all + rows[r]] = inverse
                at = head * steps[3, 1] + rows[r] * steps[3, 0]
                for c in range(size):
                    here = (c // panel * most + r) * panel + c % panel
                    out[at + c * steps[3, 2]] = sums[here] * inverse


@compiled_kernel(required=True)
def tree_backward(q, k, v, out, grad, dq, dk, dv, stats, steps, blocks, firsts, numbers, job, work):
    """Gradients of `tree_forward`: writes `dq`, `dk` and `dv`."""
    size, padded, panel, _, spans_in_all, seed, threshold = numbers
    head, n = job[0], lanes(q)
    scale = 1 / np.sqrt(size)
    most = firsts.shape[0] + n
    rows, begins, ends = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    fresh, done = np.empty(most, np.bool_), np.empty(most, np.bool_)
    block, work = work[: padded * n], work[padded * n :]
    values, work = work[: padded * n], work[padded * n :]
    k_rows, work = work[: padded * n], work[padded * n :]
    new, work = work[: panel * n], work[panel * n :]
    q_rows, work = work[: padded * most], work[padded * most :]
    grad_rows, work = work[: padded * most], work[padded * most :]
    sums, work = work[: padded * most], work[padded * most :]
    weights, work = work[: most * n], work[most * n :]
    tile, deltas = work[: most * n], work[most * n :]
    q_rows[:] = 0.0
    grad_rows[:] = 0.0
    k_rows[:] = 0.0
    half = stats.shape[0] // 2
    for number in range(job[1], job[2]):
        first, count, place, length, height, text = blocks[number]
        spans, _ = _spans_over(
            place, count, length, height, text, firsts, rows, begins, ends, fresh, done, n
        )
        k_at, v_at, dk_at, dv_at = [head * steps[x, 1] + first * steps[x, 0] for x in (1, 2, 6, 7)]
        if not spans:  # a text of one token
            for c in range(size):
                dk[dk_at + c * steps[6, 2]] = 0.0
                dv[dv_at + c * steps[7, 2]] = 0.0
            continue
        if number + 1 < job[2]:
            next_first = blocks[number + 1, 0]
            for x, rows_of in ((1, k), (2, v), (6, dk), (7, dv)):
                expect_rows(rows_of, steps[x], head, 0, next_first, next_first + n, size)
        rows_to_lanes(k, k_at, steps[1], count, size, padded, 1.0, block, n)
        rows_to_lanes(v, v_at, steps[2], count, size, padded, 1.0, values, n)
        copy_neighbours(k, k_at, steps[1], count, size, panel, n, scale, k_rows)
        copy_rows(q, head * steps[0, 1], steps[0], rows, 0, spans, size, panel, most, q_rows)
        copy_rows(grad, head * steps[4, 1], steps[4], rows, 0, spans, size, panel, most, grad_rows)
        for at in range(0, padded * most, n):
            store(q_rows, at, load(q_rows, at) * splat(q_rows, scale))
        score_rows(q_rows, most, spans, block, n, 1, padded, panel, weights)
        score_rows(grad_rows, most, spans, values, n, 1, padded, panel, tile)
        for r in range(spans):
            if fresh[r]:
                row_products(out, steps[3], grad, steps[4], head, 0, rows[r], rows[r] + 1, size, deltas[r:])
                for c in range(0, padded, panel):
                    for at in range((c * most) + r * panel, (c * most) + (r + 1) * panel, n):
                        store(sums, at, splat(sums, 0.0))
            here = head * spans_in_all + rows[r]
            x = exp(_hide(weights, r, begins[r], ends[r]) - splat(tile, stats[here]))
            x = x * splat(tile, stats[half + here])
            of_x = load(tile, r * n)
            stays = x
            if threshold:
                factor = tile.dtype.type(4294967296.0 / (4294967296.0 - threshold))
                index = ((head * blocks.shape[0] + number) * most + r) * n
                keep = dropout_factors(tile, seed, index, threshold, factor)
                of_x, stays = of_x * keep, x * keep
            store(tile, r * n, x * (of_x - splat(tile, deltas[r])))
            store(weights, r * n, stays)
        for c in range(0, size, panel):
            columns = min(panel, size - c)
            products(
                weights, 0, 1, n, grad_rows[c * most :], panel, spans, new, 0, count, panel // n, False
            )
            for r in range(count):
                for x in range(columns):
                    dv[dv_at + r * steps[7, 0] + (c + x) * steps[7, 2]] = new[r * panel + x]
            products(tile, 0, 1, n, q_rows[c * most :], panel, spans, new, 0, count, panel // n, False)
            for r in range(count):
                for x in range(columns):
                    dk[dk_at + r * steps[6, 0] + (c + x) * steps[6, 2]] = new[r * panel + x]
            products(tile, 0, n, 1, k_rows[c * n :], panel, n, sums, c * most, spans, panel // n, True)
        for r in range(spans):
            if done[r]:
                at = head * steps[5, 1] + rows[r] * steps[5, 0]
                for c in range(size):
                    here = (c // panel * most + r) * panel + c % panel
                    dq[at + c * steps[5, 2]] = sums[here]
