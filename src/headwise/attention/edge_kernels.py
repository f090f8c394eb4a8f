"""The loops of attention along edges, in Numba; `headwise.attention.edges` calls them.

Tiles: neighbouring queries of one head are held with the queries side by side, `[size, width]`, one in each
lane, as in `headwise.attention.banded_kernels`. The keys that any of them sees come by in portions, copied
from where they lie. Which lane sees which key, and by what relation, is a number for each key and lane: the
row of `relations [labels + 1, width]` to add to the logit, query times label vector, or -inf in row 0.

Trees: the spans of a binary tree over tokens, each a query that sees its tokens. The tokens come by once,
a vector of them at a time, side by side in the lanes; the spans above them are the rows of small matrices,
`[spans, tokens]`. Spans larger than a vector keep their sums from one vector to the next.

Weights are dropped at random by a number that head, key and lane make up, so that the backward pass finds
the same ones again. Rows that are summed over keys are copied in panels, `[size / panel, rows, panel]`,
of one or two vectors: the most that `products` takes. Every row of a gradient has one owner.
"""

# An intrinsic takes its typing context first, which its callers do not give.
# pyright: reportCallIssue=false

import numpy as np
from numba import float32, float64, int16, int32, int64, njit, void

from headwise.attention.banded_kernels import _deltas, _expect, _logit_gradients, _softmax, _weights
from headwise.attention.edge_rows import (
    add_row,
    copy_columns,
    copy_neighbours,
    copy_rows,
    drop_out,
    expect_rows,
    lanes_to_rows,
    make_relations,
    mix_rows,
    relate,
    score_rows,
    sum_relations,
)
from headwise.attention.lanes import highest, kept, total
from headwise.attention.simd import (
    WIDE,
    between,
    counting,
    exp,
    lanes,
    load,
    products,
    splat,
    store,
)

__all__ = ["SIGNATURES", "backward", "forward", "lanes_of", "tree_backward", "tree_forward"]

_TILE = 64  # keys at a time
_LOWEST = -3e38  # the maximum of no logits: finite, as -inf - -inf is NaN


def lanes_of(itemsize: int) -> int:
    """Numbers in a vector."""
    return (64 if WIDE else 32) // itemsize


@njit(nogil=True, cache=True)
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
    tile, work = work[: _TILE * width], work[_TILE * width :]
    rows, relations = work[: _TILE * padded], work[_TILE * padded :]
    rows[:] = 0.0
    half = stats.shape[0] // 2
    k_at, v_at = head * steps[1, 1], head * steps[2, 1]
    for number in range(job[1], job[2]):
        first, count, begin, seen, known = tiles[number]
        if number + 1 < job[2]:
            next_first, next_count, next_begin, next_seen, _ = tiles[number + 1]
            _expect(q, steps[0], head, 0, next_first, next_first + next_count, size)
            expect_rows(k, k_at, steps[1], keys, next_begin, next_begin + next_seen, size)
            expect_rows(v, v_at, steps[2], keys, next_begin, next_begin + next_seen, size)
        q_at = head * steps[0, 1] + first * steps[0, 0]
        copy_columns(q, q_at, steps[0], count, size, padded, scale, block, width)
        make_relations(table, block, width, columns, size, known, relations)
        sums[:] = 0.0
        state[:width] = _LOWEST
        state[width:] = 0.0
        for part in range(begin, begin + seen, _TILE):
            some = min(_TILE, begin + seen - part)
            copy_rows(k, k_at, steps[1], keys, part, some, size, panel, _TILE, rows)
            score_rows(rows, _TILE, some, block, width, columns, padded, panel, tile)
            relate(tile, some, width, labels, part * width, relations)
            _softmax(tile, some, columns, state, sums, padded)
            if threshold:
                place = (head * keys.shape[0] + part) * width
                drop_out(tile, tile, some * width, seed, place, threshold)
            copy_rows(v, v_at, steps[2], keys, part, some, size, panel, _TILE, rows)
            mix_rows(rows, _TILE, some, tile, width, columns, padded, panel, sums)
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


@njit(nogil=True, cache=True)
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
    weights, work = work[: _TILE * width], work[_TILE * width :]
    tile, work = work[: _TILE * width], work[_TILE * width :]
    dropped, work = work[: _TILE * width], work[_TILE * width :]
    rows, work = work[: _TILE * padded], work[_TILE * padded :]
    new, work = work[: _TILE * panel], work[_TILE * panel :]
    most = table.shape[0] // size
    relations, of_relations = work[: (most + 1) * width], work[(most + 1) * width :]
    rows[:] = 0.0
    q_rows[:] = 0.0
    grad_rows[:] = 0.0
    half = stats.shape[0] // 2
    k_at, v_at = head * steps[1, 1], head * steps[2, 1]
    dk_at, dv_at = head * steps[6, 1], head * steps[7, 1]
    for number in range(job[1], job[2]):
        first, count, begin, seen, known = tiles[number]
        if number + 1 < job[2]:
            next_first, next_count, next_begin, next_seen, _ = tiles[number + 1]
            for x, rows_of in ((0, q), (3, out), (4, grad)):
                _expect(rows_of, steps[x], head, 0, next_first, next_first + next_count, size)
            for x, rows_of in ((1, k), (2, v), (6, dk), (7, dv)):
                expect_rows(
                    rows_of, head * steps[x, 1], steps[x], keys, next_begin, next_begin + next_seen, size
                )
        q_at = head * steps[0, 1] + first * steps[0, 0]
        grad_at = head * steps[4, 1] + first * steps[4, 0]
        copy_columns(q, q_at, steps[0], count, size, padded, scale, block, width)
        copy_columns(grad, grad_at, steps[4], count, size, padded, 1.0, grads, width)
        copy_neighbours(q, q_at, steps[0], count, size, panel, width, scale, q_rows)
        copy_neighbours(grad, grad_at, steps[4], count, size, panel, width, 1.0, grad_rows)
        make_relations(table, block, width, columns, size, known, relations)
        of_relations[: (known + 1) * width] = 0.0
        sums[:] = 0.0
        _deltas(out, steps[3], grad, steps[4], head, 0, first, first + count, size, deltas)
        for i in range(width):
            here = head * rows_in_all + first + min(i, count - 1)
            tops[i] = stats[here]
            inverses[i] = stats[half + here]
            deltas[i] = deltas[min(i, count - 1)]
        for part in range(begin, begin + seen, _TILE):
            some = min(_TILE, begin + seen - part)
            copy_rows(k, k_at, steps[1], keys, part, some, size, panel, _TILE, rows)
            score_rows(rows, _TILE, some, block, width, columns, padded, panel, weights)
            relate(weights, some, width, labels, part * width, relations)
            _weights(weights, some, columns, True, tops, inverses, 0)
            copy_rows(v, v_at, steps[2], keys, part, some, size, panel, _TILE, rows)
            score_rows(rows, _TILE, some, grads, width, columns, padded, panel, tile)
            if threshold:
                place = (head * keys.shape[0] + part) * width
                drop_out(tile, tile, some * width, seed, place, threshold)
                drop_out(weights, dropped, some * width, seed, place, threshold)
            for c in range(0, size, panel):
                products(
                    dropped if threshold else weights, 0, width, 1,
                    grad_rows[c * width :], panel, width, new, 0, some, panel // n, False,
                )  # fmt: skip
                for r in range(some):
                    to = dv_at + keys[part + r] * steps[7, 0] + c * steps[7, 2]
                    add_row(new, r * panel, min(panel, size - c), dv, to, steps[7, 2])
            _logit_gradients(weights, tile, some, columns, True, deltas, 0)
            sum_relations(tile, some, width, labels, part * width, of_relations)
            copy_rows(k, k_at, steps[1], keys, part, some, size, panel, _TILE, rows)
            mix_rows(rows, _TILE, some, tile, width, columns, padded, panel, sums)
            for c in range(0, size, panel):
                products(
                    tile, 0, width, 1, q_rows[c * width :], panel, width, new, 0, some, panel // n, False
                )
                for r in range(some):
                    to = dk_at + keys[part + r] * steps[6, 0] + c * steps[6, 2]
                    add_row(new, r * panel, min(panel, size - c), dk, to, steps[6, 2])
        of_labels = of_relations[width:]
        products(table, 0, 1, size, of_labels, width, known, sums, 0, size, columns, True)
        for c in range(0, size, panel):
            products(
                of_labels, 0, width, 1, q_rows[c * width :], panel, width,
                dtable, (job[3] * padded + c) * most, known, panel // n, True,
            )  # fmt: skip
        dq_at = head * steps[5, 1] + first * steps[5, 0]
        lanes_to_rows(sums, width, count, size, scale, dq, dq_at, steps[5])


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


@njit(nogil=True, cache=True)
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
        copy_columns(
            k, head * steps[1, 1] + first * steps[1, 0], steps[1], count, size, padded, scale, block, n
        )
        v_at = head * steps[2, 1] + first * steps[2, 0]
        if number + 1 < job[2]:
            _expect(k, steps[1], head, 0, blocks[number + 1, 0], blocks[number + 1, 0] + n, size)
            _expect(v, steps[2], head, 0, blocks[number + 1, 0], blocks[number + 1, 0] + n, size)
        copy_neighbours(v, v_at, steps[2], count, size, panel, n, 1.0, v_rows)
        copy_rows(q, head * steps[0, 1], steps[0], rows, 0, spans, size, panel, most, q_rows)
        score_rows(q_rows, most, spans, block, n, 1, padded, panel, tile)
        for r in range(spans):
            x = _hide(tile, r, begins[r], ends[r])
            if fresh[r]:
                tops[r], weights[r] = _LOWEST, 0.0
            top = max(tops[r], highest(x))
            fade = np.exp(tops[r] - top)
            x = exp(x - splat(tile, top))
            tops[r], weights[r] = top, weights[r] * fade + total(x)
            if threshold:
                factor = tile.dtype.type(4294967296.0 / (4294967296.0 - threshold))
                index = ((head * blocks.shape[0] + number) * most + r) * n
                x = x * kept(tile, seed, index, threshold, factor)
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


@njit(nogil=True, cache=True)
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
                _expect(rows_of, steps[x], head, 0, next_first, next_first + n, size)
        copy_columns(k, k_at, steps[1], count, size, padded, 1.0, block, n)
        copy_columns(v, v_at, steps[2], count, size, padded, 1.0, values, n)
        copy_neighbours(k, k_at, steps[1], count, size, panel, n, scale, k_rows)
        copy_rows(q, head * steps[0, 1], steps[0], rows, 0, spans, size, panel, most, q_rows)
        copy_rows(grad, head * steps[4, 1], steps[4], rows, 0, spans, size, panel, most, grad_rows)
        for at in range(0, padded * most, n):
            store(q_rows, at, load(q_rows, at) * splat(q_rows, scale))
        score_rows(q_rows, most, spans, block, n, 1, padded, panel, weights)
        score_rows(grad_rows, most, spans, values, n, 1, padded, panel, tile)
        for r in range(spans):
            if fresh[r]:
                _deltas(out, steps[3], grad, steps[4], head, 0, rows[r], rows[r] + 1, size, deltas[r:])
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
                keep = kept(tile, seed, index, threshold, factor)
                of_x, stays = of_x * keep, x * keep
            store(tile, r * n, x * (of_x - splat(tile, deltas[r])))
            store(weights, r * n, stays)
        for c in range(0, size, panel):
            some = min(panel, size - c)
            products(
                weights, 0, 1, n, grad_rows[c * most :], panel, spans, new, 0, count, panel // n, False
            )
            for r in range(count):
                for x in range(some):
                    dv[dv_at + r * steps[7, 0] + (c + x) * steps[7, 2]] = new[r * panel + x]
            products(tile, 0, 1, n, q_rows[c * most :], panel, spans, new, 0, count, panel // n, False)
            for r in range(count):
                for x in range(some):
                    dk[dk_at + r * steps[6, 0] + (c + x) * steps[6, 2]] = new[r * panel + x]
            products(tile, 0, n, 1, k_rows[c * n :], panel, n, sums, c * most, spans, panel // n, True)
        for r in range(spans):
            if done[r]:
                at = head * steps[5, 1] + rows[r] * steps[5, 0]
                for c in range(size):
                    here = (c // panel * most + r) * panel + c % panel
                    dq[at + c * steps[5, 2]] = sums[here]


def _signatures(tensors, plan):
    return [
        void(*[dtype[::1]] * tensors, int64[:, ::1], *plan, int64[::1], int64[::1], dtype[::1])
        for dtype in (float32, float64)
    ]


_TILES, _TREES = (int64[:, ::1], int32[::1], int16[::1]), (int64[:, ::1], int64[:, ::1])
SIGNATURES = {
    forward: _signatures(6, _TILES),
    backward: _signatures(11, _TILES),
    tree_forward: _signatures(5, _TREES),
    tree_backward: _signatures(9, _TREES),
}
