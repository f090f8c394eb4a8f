"""What the kernels of attention along edges need of vectors beyond `headwise.attention.simd`: sums and
maxima across the lanes, and random numbers."""

# An intrinsic takes its typing context first, which its callers do not give.
# pyright: reportCallIssue=false

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from headwise.attention.vectors import Vector, const, spread

_SCRAMBLE = ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, None))  # the end of MurmurHash3 (Appleby)
_STRIDE = 0x9E3779B1


def _across(builder: Any, x: Any, merge: Any) -> Any:
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
def total(typing: Any, x: Any) -> Any:
    """The sum of all lanes."""
    return x.dtype(x), lambda context, builder, signature, args: _across(builder, args[0], builder.fadd)


@intrinsic
def highest(typing: Any, x: Any) -> Any:
    """The largest of all lanes."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def larger(a: Any, b: Any) -> Any:
            return builder.select(builder.fcmp_ordered(">", a, b), a, b)

        return _across(builder, args[0], larger)

    return x.dtype(x), code


@intrinsic
def dropout_factors(typing: Any, array: Any, seed: Any, index: Any, threshold: Any, factor: Any) -> Any:
    """A vector of the array's dtype with `factor` or 0 in its lanes, at random: 0 with the probability
    `threshold / 2^32`. The same seed and index (that of the first lane) give the same vector."""
    vector = Vector(array.dtype)

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
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
