"""The matrix products that the kernels of attention consist of: the sums of a small block of the result
stay in registers."""

# An intrinsic takes its typing context first, which its callers do not give.
# pyright: reportCallIssue=false

from llvmlite import ir
from numba import njit
from numba.core import cgutils, types
from numba.extending import intrinsic

from headwise.nn.attention.cpu.simd import (
    INDEX,
    WIDE,
    Vector,
    call,
    const,
    lanes,
    noinline,
    pointer,
    read,
    spread,
    write,
)


def _block(rows: int, columns: int):
    """`products` for so many rows of the result (see there), with a sum in a register for each."""

    @intrinsic
    def block(
        typing,
        a,
        a_at,
        a_next,
        a_term,
        b,
        b_term,
        terms,
        out,
        out_at,
        out_next,
        add,
    ):
        vector = Vector(b.dtype)

        def code(context, builder, signature, args):
            a_, a_at, a_next, a_term, b_, b_term, terms, out_, out_at, out_next, add = args

            def place(at, step, times):
                return builder.add(at, builder.mul(step, times))

            def index(value: int):
                return ir.Constant(INDEX, value)

            width = [index(column * vector.lanes) for column in range(columns)]
            targets = [
                pointer(
                    context, builder, out, out_, builder.add(place(out_at, out_next, index(row)), shift)
                )
                for row in range(rows)
                for shift in width
            ]
            sums = [cgutils.alloca_once(builder, vector.ir) for _ in targets]
            with builder.if_else(add) as (then, otherwise):
                with then:
                    for total, target in zip(sums, targets, strict=True):
                        builder.store(read(builder, vector, target), total)
                with otherwise:
                    for total in sums:
                        builder.store(const(vector.ir, 0.0), total)
            with cgutils.for_range(builder, terms) as loop:
                b_at = builder.mul(loop.index, b_term)
                vectors = [
                    read(builder, vector, pointer(context, builder, b, b_, builder.add(b_at, shift)))
                    for shift in width
                ]
                at = place(a_at, a_term, loop.index)
                for row in range(rows):
                    scalar = builder.load(pointer(context, builder, a, a_, place(at, a_next, index(row))))
                    factor = spread(builder, scalar, vector.ir)
                    for column, column_vector in enumerate(vectors):
                        total = sums[row * columns + column]
                        builder.store(
                            call(builder, "fma", factor, column_vector, builder.load(total)), total
                        )
            for total, target in zip(sums, targets, strict=True):
                write(builder, vector, builder.load(total), target)
            return context.get_dummy_value()

        int64 = types.int64
        return types.void(a, int64, int64, int64, b, int64, int64, out, int64, int64, types.boolean), code

    return block


# As many sums as there are registers for: 32 of them where they are wide, else 16, halves of a vector.
_block81, _block41, _block21, _block11 = (_block(rows, 1) for rows in (8, 4, 2, 1))
_block82, _block42, _block22, _block12 = (_block(rows, 2) for rows in (8, 4, 2, 1))
_MOST = 8 if WIDE else 4


@njit
def products(a, a_at, a_next, a_term, b, b_term, terms, out, out_at, rows, columns, add):
    """out[r] = sum over t of a[r, t] * b[t] for vectors b[t] and out[r] of 1 or 2 `columns`.

    In the flat arrays, `a[r, t]` is `a[a_at + r * a_next + t * a_term]`; `b[t]` begins at `t * b_term`; and
    `out[r]` at `out_at + r * columns * lanes`. With `add`, the sums are added to what `out` holds.
    """
    noinline()
    width = columns * lanes(b)
    r = 0
    while r < rows:
        left = rows - r
        at, to = a_at + r * a_next, out_at + r * width
        if columns == 2:
            if left >= 8 and _MOST == 8:
                _block82(a, at, a_next, a_term, b, b_term, terms, out, to, width, add)
                r += 8
            elif left >= 4:
                _block42(a, at, a_next, a_term, b, b_term, terms, out, to, width, add)
                r += 4
            elif left >= 2:
                _block22(a, at, a_next, a_term, b, b_term, terms, out, to, width, add)
                r += 2
            else:
                _block12(a, at, a_next, a_term, b, b_term, terms, out, to, width, add)
                r += 1
        elif left >= 8:
            _block81(a, at, a_next, a_term, b, b_term, terms, out, to, width, add)
            r += 8
        elif left >= 4:
            _block41(a, at, a_next, a_term, b, b_term, terms, out, to, width, add)
            r += 4
        elif left >= 2:
            _block21(a, at, a_next, a_term, b, b_term, terms, out, to, width, add)
            r += 2
        else:
            _block11(a, at, a_next, a_term, b, b_term, terms, out, to, width, add)
            r += 1
