"""Rows of queries, keys and values side by side in the lanes of a block, and back; and rows that will be
needed soon."""

# An intrinsic takes its typing context first, which its callers do not give.
# pyright: reportCallIssue=false

from numba import njit

from headwise.attention.simd import kept_whole, lanes, prefetch, transpose


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
    kept_whole()
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
