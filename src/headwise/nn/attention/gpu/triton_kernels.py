"""The kernels of banded attention on GPUs, in Triton; `headwise.nn.attention.gpu.triton_band` calls them.

Each program owns a block of `ROWS` rows of one text and one head, and goes through the blocks of `KEYS`
rows of the same text that are within the band, with the online softmax of FlashAttention-2 (Dao 2023,
Algorithms 1 and 2). In `forward` and `backward_queries` the owned rows are queries. In `backward_keys` they
are keys, and what comes by are the queries that see them: the band with left and right exchanged. So every
row of a gradient has one owner, nothing is added atomically, and results are the same each time.

Rows and heads are found by steps in units of `ALIGN` (so that the compiler sees what can be loaded at
once); features lie side by side. `items` `[items, 8]`,
int32, says what each program does: head, its place among the heads of the values, first row of the text,
its length, first owned row in the text, reach to the left and to the right, and nothing. Logits are in
units of log 2. With `WHOLE`, blocks that are seen entirely are gone through without looking at the band.
"""

# Triton's language only looks like Python.
# pyrefly: ignore-errors[bad-argument-type]

import triton
import triton.language as tl
from triton.runtime.jit import JITFunction

_LOWEST = tl.constexpr(-3e38)  # the maximum of no logits: finite, as -inf - -inf is NaN


@triton.jit
def _item(items):
    """The work item of this program. Factors of strides have 64 bits."""
    at = items + tl.program_id(0) * 8
    head = tl.load(at).to(tl.int64)
    value_head = tl.load(at + 1).to(tl.int64)
    start = tl.load(at + 2).to(tl.int64)
    return head, value_head, start, tl.load(at + 3), tl.load(at + 4), tl.load(at + 5), tl.load(at + 6)


@triton.jit
def _part(x, start, head, row, step, ALIGN: tl.constexpr):
    """The address of the first row of a head in the text at `start`; `row` and `step` are the distances
    between rows and between heads."""
    return x + start * (row * ALIGN) + head * (step * ALIGN)


@triton.jit
def _places(x, first, length, row, COUNT: tl.constexpr, SIZE: tl.constexpr, WIDTH: tl.constexpr, ALIGN: tl.constexpr):  # fmt: skip  # noqa: E501
    """The addresses of the rows `first` to `first + COUNT` of a head, `[COUNT, WIDTH]`, and which of them
    exist."""
    row = row * ALIGN
    rows = tl.arange(0, COUNT)
    columns = tl.arange(0, WIDTH)
    at = x + first.to(tl.int64) * row + rows[:, None] * row + columns[None, :]
    return at, (first + rows < length)[:, None] & (columns < SIZE)[None, :]


@triton.jit
def _load(x, first, length, row, COUNT: tl.constexpr, SIZE: tl.constexpr, WIDTH: tl.constexpr, ALIGN: tl.constexpr):  # fmt: skip  # noqa: E501
    """Rows of a head; 0 behind the text's end and the head's size, whatever lies there."""
    at, there = _places(x, first, length, row, COUNT, SIZE, WIDTH, ALIGN)
    return tl.load(at, mask=there, other=0.0)


@triton.jit
def _store(x, block, first, length, row, COUNT: tl.constexpr, SIZE: tl.constexpr, WIDTH: tl.constexpr, ALIGN: tl.constexpr):  # fmt: skip  # noqa: E501
    """The reverse of `_load`."""
    at, there = _places(x, first, length, row, COUNT, SIZE, WIDTH, ALIGN)
    tl.store(at, block.to(x.dtype.element_ty), mask=there)


@triton.jit
def _blocks(begin, length, before, after, ROWS: tl.constexpr, KEYS: tl.constexpr, WHOLE: tl.constexpr):
    """The owned rows, and the blocks that they see, from `low` on: how many there are, how many of these
    are whole (there are `ROWS` owned rows, and each sees all of them), and how many stand before those.

    Rows behind the text's end are said to be far away, where they see nothing."""
    rows = begin + tl.arange(0, ROWS)
    rows = tl.where(rows < length, rows, -(2**30))
    last = tl.minimum(begin + ROWS, length) - 1
    low = tl.maximum(begin - before, 0)
    high = tl.minimum(last + after + 1, length)
    every = tl.maximum(high - low + KEYS - 1, 0) // KEYS
    ahead = tl.minimum(tl.maximum(last - before - low + KEYS - 1, 0) // KEYS, every)
    full = 0
    if WHOLE:
        full = tl.maximum(tl.minimum(begin + after + 1, high) - (low + ahead * KEYS), 0) // KEYS
        full = tl.where(begin + ROWS <= length, full, 0)
    return rows, low, every, full, ahead


@triton.jit
def _logits(
    owned, seen_rows, rows, first, before, after, length, scale, slope,
    KEYS: tl.constexpr, EDGE: tl.constexpr, SLOPED: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Logits of owned and other rows, `[ROWS, KEYS]`, those of pairs that do not see each other -inf."""
    logits = tl.dot(owned, tl.trans(seen_rows), input_precision=PRECISION) * scale
    away = (first + tl.arange(0, KEYS))[None, :] - rows[:, None]
    if SLOPED:
        logits -= slope * tl.abs(away).to(tl.float32)
    if EDGE:
        seen = (away >= -before) & (away <= tl.minimum(after, length - 1 - rows)[:, None])
        logits = tl.where(seen, logits, float("-inf"))
    return logits


@triton.jit
def _softmax_step(
    query, sums, top, total, k, v, first, rows, length, k_row, v_row, left, right, scale, slope,
    SIZE: tl.constexpr, VALUE_SIZE: tl.constexpr, WIDTH: tl.constexpr, VALUE_WIDTH: tl.constexpr,
    ALIGN: tl.constexpr, KEYS: tl.constexpr, EDGE: tl.constexpr, SLOPED: tl.constexpr,
    PRECISION: tl.constexpr,
):  # fmt: skip
    """Weighted values, maximum and sum of weights with one more block of keys in them."""
    key = _load(k, first, length, k_row, KEYS, SIZE, WIDTH, ALIGN)
    value = _load(v, first, length, v_row, KEYS, VALUE_SIZE, VALUE_WIDTH, ALIGN)
    logits = _logits(
        query, key, rows, first, left, right, length, scale, slope, KEYS, EDGE, SLOPED, PRECISION
    )
    higher = tl.maximum(top, tl.max(logits, 1))
    weights = tl.exp2(logits - higher[:, None])
    fade = tl.exp2(top - higher)
    sums = sums * fade[:, None] + tl.dot(weights.to(value.dtype), value, input_precision=PRECISION)
    return sums, higher, total * fade + tl.sum(weights, 1)


@triton.jit(do_not_specialize=["count"])
def forward(
    q, k, v, out, logs, items, slopes,
    q_row, q_head, k_row, k_head, v_row, v_head, out_row, out_head, count, scale,
    SIZE: tl.constexpr, VALUE_SIZE: tl.constexpr, WIDTH: tl.constexpr, VALUE_WIDTH: tl.constexpr,
    ALIGN: tl.constexpr, ROWS: tl.constexpr, KEYS: tl.constexpr, WHOLE: tl.constexpr, SLOPED: tl.constexpr,
    PRECISION: tl.constexpr,
):  # fmt: skip
    """Attention of `count` rows: writes `out`, and in `logs` `[heads, count]` the logarithm of the sum of
    each row's exponential logits, 0 where it sees nothing."""
    head, value_head, start, length, begin, left, right = _item(items)
    q = _part(q, start, head, q_row, q_head, ALIGN)
    k = _part(k, start, head, k_row, k_head, ALIGN)
    v = _part(v, start, value_head, v_row, v_head, ALIGN)
    out = _part(out, start, value_head, out_row, out_head, ALIGN)
    slope = tl.load(slopes + head)
    query = _load(q, begin, length, q_row, ROWS, SIZE, WIDTH, ALIGN)
    sums = tl.zeros([ROWS, VALUE_WIDTH], tl.float32)
    top = tl.full([ROWS], _LOWEST, tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    rows, low, every, full, ahead = _blocks(begin, length, left, right, ROWS, KEYS, WHOLE)
    for block in range(every - full):
        first = low + tl.where(block < ahead, block, block + full) * KEYS
        sums, top, total = _softmax_step(
            query, sums, top, total, k, v, first, rows, length, k_row, v_row, left, right, scale, slope,
            SIZE, VALUE_SIZE, WIDTH, VALUE_WIDTH, ALIGN, KEYS, True, SLOPED, PRECISION,
        )  # fmt: skip
    if WHOLE:
        for block in range(ahead, ahead + full):
            sums, top, total = _softmax_step(
                query, sums, top, total, k, v, low + block * KEYS, rows, length, k_row, v_row, left, right,
                scale, slope,
                SIZE, VALUE_SIZE, WIDTH, VALUE_WIDTH, ALIGN, KEYS, False, SLOPED, PRECISION,
            )  # fmt: skip
    nothing = total == 0
    total = tl.where(nothing, 1.0, total)
    log = tl.where(nothing, 0.0, top + tl.log2(total))
    tl.store(logs + head * count + start + rows, log, mask=rows >= 0)
    _store(out, sums / total[:, None], begin, length, out_row, ROWS, VALUE_SIZE, VALUE_WIDTH, ALIGN)


@triton.jit
def _query_step(
    query, grad_out, log, delta, sums, k, v, first, rows, length, k_row, v_row, left, right, scale, slope,
    SIZE: tl.constexpr, VALUE_SIZE: tl.constexpr, WIDTH: tl.constexpr, VALUE_WIDTH: tl.constexpr,
    ALIGN: tl.constexpr, KEYS: tl.constexpr, EDGE: tl.constexpr, SLOPED: tl.constexpr,
    PRECISION: tl.constexpr,
):  # fmt: skip
    """Add a block of keys to the gradients of queries, which are still without their factor."""
    key = _load(k, first, length, k_row, KEYS, SIZE, WIDTH, ALIGN)
    value = _load(v, first, length, v_row, KEYS, VALUE_SIZE, VALUE_WIDTH, ALIGN)
    logits = _logits(
        query, key, rows, first, left, right, length, scale, slope, KEYS, EDGE, SLOPED, PRECISION
    )
    weights = tl.exp2(logits - log[:, None])
    of_weights = tl.dot(grad_out, tl.trans(value), input_precision=PRECISION)
    of_logits = weights * (of_weights - delta[:, None])
    return sums + tl.dot(of_logits.to(key.dtype), key, input_precision=PRECISION)


@triton.jit(do_not_specialize=["count"])
def backward_queries(
    q, k, v, out, grad, dq, logs, deltas, items, slopes,
    q_row, q_head, k_row, k_head, v_row, v_head, out_row, out_head, grad_row, grad_head, dq_row, dq_head,
    count, scale, factor,
    SIZE: tl.constexpr, VALUE_SIZE: tl.constexpr, WIDTH: tl.constexpr, VALUE_WIDTH: tl.constexpr,
    ALIGN: tl.constexpr, ROWS: tl.constexpr, KEYS: tl.constexpr, WHOLE: tl.constexpr, SLOPED: tl.constexpr,
    PRECISION: tl.constexpr,
):  # fmt: skip
    """Gradients of queries, from `grad`, that of `out`; and in `deltas` `[heads, count]`, which
    `backward_keys` needs, the product of each row of the two. `factor` is the scale of the logits, without
    the change of units."""
    head, value_head, start, length, begin, left, right = _item(items)
    q = _part(q, start, head, q_row, q_head, ALIGN)
    k = _part(k, start, head, k_row, k_head, ALIGN)
    v = _part(v, start, value_head, v_row, v_head, ALIGN)
    out = _part(out, start, value_head, out_row, out_head, ALIGN)
    grad = _part(grad, start, value_head, grad_row, grad_head, ALIGN)
    dq = _part(dq, start, head, dq_row, dq_head, ALIGN)
    slope = tl.load(slopes + head)
    query = _load(q, begin, length, q_row, ROWS, SIZE, WIDTH, ALIGN)
    output = _load(out, begin, length, out_row, ROWS, VALUE_SIZE, VALUE_WIDTH, ALIGN)
    grad_out = _load(grad, begin, length, grad_row, ROWS, VALUE_SIZE, VALUE_WIDTH, ALIGN)
    rows, low, every, full, ahead = _blocks(begin, length, left, right, ROWS, KEYS, WHOLE)
    delta = tl.sum(output.to(tl.float32) * grad_out.to(tl.float32), 1)
    tl.store(deltas + head * count + start + rows, delta, mask=rows >= 0)
    log = tl.load(logs + head * count + start + rows, mask=rows >= 0, other=0.0)
    sums = tl.zeros([ROWS, WIDTH], tl.float32)
    for block in range(every - full):
        first = low + tl.where(block < ahead, block, block + full) * KEYS
        sums = _query_step(
            query, grad_out, log, delta, sums, k, v, first, rows, length, k_row, v_row, left, right, scale,
            slope, SIZE, VALUE_SIZE, WIDTH, VALUE_WIDTH, ALIGN, KEYS, True, SLOPED, PRECISION,
        )  # fmt: skip
    if WHOLE:
        for block in range(ahead, ahead + full):
            sums = _query_step(
                query, grad_out, log, delta, sums, k, v, low + block * KEYS, rows, length, k_row, v_row,
                left, right, scale, slope,
                SIZE, VALUE_SIZE, WIDTH, VALUE_WIDTH, ALIGN, KEYS, False, SLOPED, PRECISION,
            )  # fmt: skip
    _store(dq, sums * factor, begin, length, dq_row, ROWS, SIZE, WIDTH, ALIGN)


@triton.jit
def _key_step(
    key, value, sums, value_sums, q, grad, logs, deltas, first, rows, length, q_row, grad_row, left, right,
    scale, slope,
    SIZE: tl.constexpr, VALUE_SIZE: tl.constexpr, WIDTH: tl.constexpr, VALUE_WIDTH: tl.constexpr,
    ALIGN: tl.constexpr, KEYS: tl.constexpr, EDGE: tl.constexpr, SLOPED: tl.constexpr,
    PRECISION: tl.constexpr,
):  # fmt: skip
    """Add a block of queries to the gradients of values, and to those of keys, which are still without
    their factor."""
    query = _load(q, first, length, q_row, KEYS, SIZE, WIDTH, ALIGN)
    grad_out = _load(grad, first, length, grad_row, KEYS, VALUE_SIZE, VALUE_WIDTH, ALIGN)
    queries = first + tl.arange(0, KEYS)
    log = tl.load(logs + queries, mask=queries < length, other=0.0)
    delta = tl.load(deltas + queries, mask=queries < length, other=0.0)
    logits = _logits(
        key, query, rows, first, right, left, length, scale, slope, KEYS, EDGE, SLOPED, PRECISION
    )
    weights = tl.exp2(logits - log[None, :])
    value_sums += tl.dot(weights.to(grad_out.dtype), grad_out, input_precision=PRECISION)
    of_weights = tl.dot(value, tl.trans(grad_out), input_precision=PRECISION)
    of_logits = weights * (of_weights - delta[None, :])
    return sums + tl.dot(of_logits.to(query.dtype), query, input_precision=PRECISION), value_sums


@triton.jit(do_not_specialize=["count"])
def backward_keys(
    q, k, v, grad, dk, dv, logs, deltas, items, slopes,
    q_row, q_head, k_row, k_head, v_row, v_head, grad_row, grad_head, dk_row, dk_head, dv_row, dv_head,
    count, scale, factor,
    SIZE: tl.constexpr, VALUE_SIZE: tl.constexpr, WIDTH: tl.constexpr, VALUE_WIDTH: tl.constexpr,
    ALIGN: tl.constexpr, ROWS: tl.constexpr, KEYS: tl.constexpr, WHOLE: tl.constexpr, SLOPED: tl.constexpr,
    PRECISION: tl.constexpr,
):  # fmt: skip
    """Gradients of keys and values; after `backward_queries`."""
    head, value_head, start, length, begin, left, right = _item(items)
    q = _part(q, start, head, q_row, q_head, ALIGN)
    k = _part(k, start, head, k_row, k_head, ALIGN)
    v = _part(v, start, value_head, v_row, v_head, ALIGN)
    grad = _part(grad, start, value_head, grad_row, grad_head, ALIGN)
    dk = _part(dk, start, head, dk_row, dk_head, ALIGN)
    dv = _part(dv, start, value_head, dv_row, dv_head, ALIGN)
    logs += head * count + start
    deltas += head * count + start
    slope = tl.load(slopes + head)
    key = _load(k, begin, length, k_row, ROWS, SIZE, WIDTH, ALIGN)
    value = _load(v, begin, length, v_row, ROWS, VALUE_SIZE, VALUE_WIDTH, ALIGN)
    sums = tl.zeros([ROWS, WIDTH], tl.float32)
    value_sums = tl.zeros([ROWS, VALUE_WIDTH], tl.float32)
    rows, low, every, full, ahead = _blocks(begin, length, right, left, ROWS, KEYS, WHOLE)
    for block in range(every - full):
        first = low + tl.where(block < ahead, block, block + full) * KEYS
        sums, value_sums = _key_step(
            key, value, sums, value_sums, q, grad, logs, deltas, first, rows, length, q_row, grad_row, left,
            right, scale, slope,
            SIZE, VALUE_SIZE, WIDTH, VALUE_WIDTH, ALIGN, KEYS, True, SLOPED, PRECISION,
        )  # fmt: skip
    if WHOLE:
        for block in range(ahead, ahead + full):
            sums, value_sums = _key_step(
                key, value, sums, value_sums, q, grad, logs, deltas, low + block * KEYS, rows, length,
                q_row, grad_row, left, right, scale, slope,
                SIZE, VALUE_SIZE, WIDTH, VALUE_WIDTH, ALIGN, KEYS, False, SLOPED, PRECISION,
            )  # fmt: skip
    _store(dk, sums * factor, begin, length, dk_row, ROWS, SIZE, WIDTH, ALIGN)
    _store(dv, value_sums, begin, length, dv_row, ROWS, VALUE_SIZE, VALUE_WIDTH, ALIGN)


_jitted = {isinstance(function, JITFunction) for function in (forward, tl.max)}
INTERPRETED: bool | None = None if len(_jitted) == 2 else not _jitted.pop()
"""Whether Triton's interpreter runs the kernels (the environment variable TRITON_INTERPRET was set when
Triton was imported); None where it was set in between, and nothing runs them."""
