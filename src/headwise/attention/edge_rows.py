"""Rows of queries, keys and values in the tiles of `headwise.attention.edge_kernels`, and back: copied into
lanes or panels, related, dropped, multiplied and summed."""

# An intrinsic takes its typing context first, which its callers do not give.
# pyright: reportCallIssue=false

import numpy as np
from numba import njit

from headwise.attention.lanes import kept
from headwise.attention.simd import kept_whole, lanes, load, prefetch, products, splat, store, transpose


@njit
def copy_columns(flat, at, step, rows, size, padded, factor, block, width):
    """`rows` neighbouring rows into the lanes of a block `[padded, width]`, times `factor`; the last row
    also into the lanes that are left, 0 into the features that are."""
    kept_whole()
    n = lanes(block)
    factor = block.dtype.type(factor)
    if step[2] == 1 and size >= n:
        for i in range(0, width, n):
            some = max(1, min(n, rows - i))
            for c in range(0, size, n):
                c = min(c, size - n)  # the last ones may be done twice
                source = at + min(i, rows - 1) * step[0] + c
                transpose(flat, source, step[0], some, block, c * width + i, width, n, factor)
    else:
        for i in range(width):
            for c in range(size):
                block[c * width + i] = flat[at + min(i, rows - 1) * step[0] + c * step[2]] * factor
    block[size * width : padded * width] = 0.0


@njit
def lanes_to_rows(block, width, rows, size, factor, flat, at, step):
    """The lanes of a block `[size, width]` back into `rows` rows, times `factor`."""
    kept_whole()
    n = lanes(block)
    factor = block.dtype.type(factor)
    if step[2] == 1 and size >= n:
        for i in range(0, rows, n):
            for c in range(0, size, n):
                c = min(c, size - n)
                target = at + i * step[0] + c
                transpose(block, c * width + i, width, n, flat, target, step[0], min(n, rows - i), factor)
        return
    for i in range(rows):
        for c in range(size):
            flat[at + i * step[0] + c * step[2]] = block[c * width + i] * factor


@njit
def copy_row(flat, at, feature, size, panel, room, r, factor, out):
    """A row of `flat` as row `r` of panels `[size / panel, room, panel]`, times `factor`."""
    n, scale = lanes(out), splat(out, factor)
    to, end = r * panel, min(panel, size)
    start = 0
    while start < size:
        c = start
        if feature == 1:
            while c + n <= end:
                store(out, to + c - start, load(flat, at + c) * scale)
                c += n
        while c < end:
            out[to + c - start] = flat[at + c * feature] * out.dtype.type(factor)
            c += 1
        start, end, to = end, min(end + panel, size), to + room * panel


@njit
def copy_rows(flat, at, step, numbers, first, count, size, panel, room, out):
    """The rows with some numbers into panels."""
    kept_whole()
    for r in range(count):
        copy_row(flat, at + numbers[first + r] * step[0], step[2], size, panel, room, r, 1.0, out)


@njit
def copy_neighbours(flat, at, step, rows, size, panel, room, factor, out):
    """`rows` neighbouring rows into panels, times `factor`, the last one also where more would stand."""
    kept_whole()
    for r in range(room):
        copy_row(flat, at + min(r, rows - 1) * step[0], step[2], size, panel, room, r, factor, out)


@njit
def expect_rows(flat, at, step, numbers, first, end, size):
    """Have the rows with some numbers brought to the caches. They are far apart, with the other heads
    between them."""
    for r in range(first, end):
        row = at + numbers[r] * step[0]
        for c in range(0, size, lanes(flat)):
            prefetch(flat, row + c)
        prefetch(flat, row + size - 1)


@njit
def add_row(rows, from_, count, flat, at, feature):
    """Add `count` neighbouring numbers to those of a row."""
    n, c = lanes(rows), 0
    if feature == 1:
        while c + n <= count:
            store(flat, at + c, load(flat, at + c) + load(rows, from_ + c))
            c += n
    while c < count:
        flat[at + c * feature] += rows[from_ + c]
        c += 1


@njit
def relate(tile, count, width, labels, at, relations):
    """Add to logits `[count, width]` what each query makes of its relation to each key."""
    kept_whole()
    for r in range(count):
        for i in range(width):
            x = r * width + i
            tile[x] += relations[labels[at + x] * width + i]


@njit
def sum_relations(tile, count, width, labels, at, relations):
    """The gradients of `_relate`."""
    kept_whole()
    for r in range(count):
        for i in range(width):
            x = r * width + i
            relations[labels[at + x] * width + i] += tile[x]


@njit
def drop_out(source, target, count, seed, index, threshold):
    """`count` weights, those that stay enlarged to make up for the others; `count` in whole vectors."""
    factor = target.dtype.type(4294967296.0 / (4294967296.0 - threshold))
    for x in range(0, count, lanes(target)):
        store(target, x, load(source, x) * kept(target, seed, index + x, threshold, factor))


@njit
def score_rows(rows, room, count, block, width, columns, padded, panel, out):
    """out = rows @ block, for `count` rows in panels and a block `[padded, width]`."""
    for c in range(0, padded, panel):
        products(rows, c * room, panel, 1, block[c * width :], width, panel, out, 0, count, columns, c > 0)


@njit
def mix_rows(rows, room, count, tile, width, columns, padded, panel, sums):
    """sums += rows^T @ tile, for `count` rows in panels and a tile `[count, width]`."""
    for c in range(0, padded, panel):
        products(rows, c * room, 1, panel, tile, width, count, sums, c * width, panel, columns, True)


@njit
def make_relations(table, block, width, columns, size, labels, out):
    """-inf, and below it the table times a block of queries: `[labels + 1, width]`."""
    out[:width] = -np.inf
    products(table, 0, size, 1, block, width, size, out, width, labels, columns, False)
