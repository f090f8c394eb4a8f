"""What the kernels of attention along edges need of vectors beyond `headwise.nn.attention.cpu.simd`: sums
and maxima across the lanes, and random numbers.

Rows of queries, keys and values side by side in the lanes of a block, and back; and rows that will be
needed soon.

Rows of queries, keys and values in the tiles of `headwise.nn.attention.cpu.edge_kernels`, copied into
panels, related, dropped, multiplied and summed.
"""

# An intrinsic takes its typing context first, which its callers do not give.
# pyright: reportCallIssue=false

# An intrinsic takes its typing context first, which its callers do not give.
# pyright: reportCallIssue=false
import numpy as np
from llvmlite import ir

# An intrinsic takes its typing context first, which its callers do not give.
# pyright: reportCallIssue=false
from numba import njit
from numba.core import types
from numba.extending import intrinsic

from headwise.nn.attention.cpu.products import products
from headwise.nn.attention.cpu.simd import (
    Vector,
    const,
    lanes,
    load,
    noinline,
    prefetch,
    splat,
    spread,
    store,
    transpose,
)

_SCRAMBLE = ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, None))  # the end of MurmurHash3 (Appleby)
_STRIDE = 0x9E3779B1


def _across(builder, x, merge):
    """`merge` of all lanes, in pairs of halves; a scalar."""
    count, nothing = x.type.count, ir.Constant(x.type, ir.Undefined)
    step = count // 2
    while step:
        picks = ir.Constant(
            ir.VectorType(ir.IntType(32), count), [(i + step) % count for i in range(count)]
        )
        x = merge(x, builder.shuffle_vector(x, nothing, picks))
        step //= 2
    return builder.extract_element(x, ir.Constant(ir.IntType(32), 0))


@intrinsic
def total(typing, x):
    """The sum of all lanes."""
    return x.dtype(x), lambda context, builder, signature, args: _across(builder, args[0], builder.fadd)


@intrinsic
def highest(typing, x):
    """The largest of all lanes."""

    def code(context, builder, signature, args):
        def larger(a, b):
            return builder.select(builder.fcmp_ordered(">", a, b), a, b)

        return _across(builder, args[0], larger)

    return x.dtype(x), code


@intrinsic
def dropout_factors(typing, array, seed, index, threshold, factor):
    """A vector of the array's dtype with `factor` or 0 in its lanes, at random: 0 with the probability
    `threshold / 2^32`. The same seed and index (that of the first lane) give the same vector."""
    vector = Vector(array.dtype)

    def code(context, builder, signature, args):
        _, seed, index, threshold, factor = args
        word = ir.IntType(32)
        kind = ir.VectorType(word, vector.lanes)

        seed, index, threshold = (
            spread(builder, builder.trunc(scalar, word), kind) for scalar in (seed, index, threshold)
        )
        x = builder.add(index, ir.Constant(kind, list(range(vector.lanes))))
        x = builder.add(builder.mul(x, const(kind, _STRIDE)), seed)
        for shift, scale in _SCRAMBLE:
            x = builder.xor(x, builder.lshr(x, const(kind, shift)))
            x = x if scale is None else builder.mul(x, const(kind, scale))
        stays = builder.icmp_unsigned(">=", x, threshold)
        return builder.select(stays, spread(builder, factor, vector.ir), const(vector.ir, 0.0))

    int64 = types.int64
    return vector(array, int64, int64, int64, array.dtype), code


@njit
def expect_rows(flat, step, head, start, first, end, size):
    """Have the rows from `first` to `end` of a text brought to the caches. They are far apart, with the
    other heads between them, so that the processor does not see by itself where to go on."""
    at = head * step[1] + start * step[0]
    for i in range(first, end):
        for c in range(0, size, lanes(flat)):
            prefetch(flat, at + i * step[0] + c)
        prefetch(flat, at + i * step[0] + size - 1)


@njit
def rows_to_lanes(flat, at, step, rows, size, padded, factor, block, width):
    """`rows` neighbouring rows into the lanes of a block `[padded, width]`, times `factor`; the last row
    also into the lanes that are left, 0 into the features that are."""
    noinline()
    n = lanes(block)
    factor = block.dtype.type(factor)
    if step[2] == 1 and size >= n:
        for i in range(0, width, n):
            lane_count = max(1, min(n, rows - i))
            for c in range(0, size, n):
                c = min(c, size - n)  # the last ones may be done twice
                source = at + min(i, rows - 1) * step[0] + c
                transpose(flat, source, step[0], lane_count, block, c * width + i, width, n, factor)
    else:
        for i in range(width):
            for c in range(size):
                block[c * width + i] = flat[at + min(i, rows - 1) * step[0] + c * step[2]] * factor
    block[size * width : padded * width] = 0.0


@njit
def lanes_to_rows(block, width, rows, size, factor, flat, at, step):
    """The lanes of a block `[size, width]` back into `rows` rows, times `factor`."""
    noinline()
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
    noinline()
    for r in range(count):
        copy_row(flat, at + numbers[first + r] * step[0], step[2], size, panel, room, r, 1.0, out)


@njit
def copy_neighbours(flat, at, step, rows, size, panel, room, factor, out):
    """`rows` neighbouring rows into panels, times `factor`, the last one also where more would stand."""
    noinline()
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
    noinline()
    for r in range(count):
        for i in range(width):
            x = r * width + i
            tile[x] += relations[labels[at + x] * width + i]


@njit
def sum_relations(tile, count, width, labels, at, relations):
    """The gradients of `relate`."""
    noinline()
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
