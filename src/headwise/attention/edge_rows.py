"""Rows of queries, keys and values in the tiles of `headwise.attention.edge_kernels`, copied into
panels, related, dropped, multiplied and summed."""

# An intrinsic takes its typing context first, which its callers do not give.
# pyright: reportCallIssue=false

import numpy as np
from numba import njit

from headwise.attention.lanes import dropout_factors
from headwise.attention.products import products
from headwise.attention.simd import kept_whole, lanes, load, prefetch, splat, store


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
def expect_numbered(flat, at, step, numbers, first, end, size):
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
    """The gradients of `relate`."""
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
        store(target, x, load(source, x) * dropout_factors(target, seed, index + x, threshold, factor))


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
