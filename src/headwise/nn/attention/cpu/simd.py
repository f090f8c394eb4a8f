"""Vectors of floating-point numbers as a type of Numba, and the LLVM code that makes and moves them.

LLVM turns plain loops into vector code only where it can prove that no two arrays overlap, which it cannot
in the kernels of attention. So these name their vectors: a `Vector` is one register full (more than one
where the processor has narrower ones).

This file needs Numba; only kernels import it.

What can be done with vectors (`headwise.nn.attention.cpu.simd`) inside Numba functions.

Indices are not checked, and negative ones do not count from the end. Arrays are contiguous and
one-dimensional.
"""

# An intrinsic takes its typing context first, which its callers do not give.
# pyright: reportCallIssue=false
import math
import operator

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel.models import PrimitiveModel
from numba.extending import intrinsic, overload, register_model

INDEX = ir.IntType(64)
WIDE = bool(llvm.get_host_cpu_features().get("avx512f", False))
BYTES = 64 if WIDE else 32


class Vector(types.Type):
    """A vector of as many numbers as an array's `lanes`."""

    def __init__(self, dtype):
        self.dtype = dtype
        self.size = dtype.bitwidth // 8
        self.lanes = BYTES // self.size
        super().__init__(name=f"Vector({dtype}x{self.lanes})")

    @property
    def ir(self) -> ir.VectorType:
        return ir.VectorType(ir.FloatType() if self.size == 4 else ir.DoubleType(), self.lanes)


@register_model(Vector)
class _Model(PrimitiveModel):
    def __init__(self, manager, vector: Vector):
        super().__init__(manager, vector, vector.ir)


def const(vector: ir.VectorType, value: float) -> ir.Constant:
    """A vector with the same constant in all lanes."""
    return ir.Constant(vector, [value] * vector.count)


def call(builder, name: str, *args):
    """An LLVM intrinsic function of vectors."""
    kind = args[0].type
    bits = 32 if isinstance(kind.element, ir.FloatType) else 64
    signature = ir.FunctionType(kind, [kind] * len(args))
    name = f"llvm.{name}.v{kind.count}f{bits}"
    return builder.call(cgutils.get_or_insert_function(builder.module, signature, name), args)


def spread(builder, scalar, vector: ir.VectorType):
    """A vector with the same number in all lanes."""
    nothing = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(nothing, scalar, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, nothing, const(ir.VectorType(ir.IntType(32), vector.count), 0))


def pointer(context, builder, kind, array, index):
    """Where `array[index]` lies."""
    return builder.gep(context.make_array(kind)(context, builder, array).data, [index])


def read(builder, vector: Vector, at):
    """The vector that begins at a pointer."""
    return builder.load(builder.bitcast(at, vector.ir.as_pointer()), align=vector.size)


def write(builder, vector: Vector, value, at) -> None:
    """Write a vector to where a pointer shows."""
    builder.store(value, builder.bitcast(at, vector.ir.as_pointer()), align=vector.size)


@intrinsic
def noinline(typing):
    """Says that the function in which this stands is not to be copied into those that call it, which would
    take long to compile."""

    def code(context, builder, signature, args):
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.void(), code


@intrinsic
def lanes(typing, array):
    """Numbers in a vector of the array's dtype."""
    count = Vector(array.dtype).lanes
    return types.int64(array), lambda context, builder, signature, args: ir.Constant(INDEX, count)


@intrinsic
def load(typing, array, index):
    """`array[index : index + lanes]`."""
    vector = Vector(array.dtype)

    def code(context, builder, signature, args):
        return read(builder, vector, pointer(context, builder, array, *args))

    return vector(array, types.int64), code


@intrinsic
def store(typing, array, index, value):
    """`array[index : index + lanes] = value`."""

    def code(context, builder, signature, args):
        write(builder, value, args[2], pointer(context, builder, array, *args[:2]))
        return context.get_dummy_value()

    return types.void(array, types.int64, value), code


@intrinsic
def prefetch(typing, array, index):
    """Have the memory around `array[index]` brought to the caches, for it will be needed soon."""

    def code(context, builder, signature, args):
        at = pointer(context, builder, array, *args)
        at = builder.bitcast(at, ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [at.type, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        read_all_caches_data = (ir.Constant(number, x) for x in (0, 3, 1))
        builder.call(function, [at, *read_all_caches_data])
        return context.get_dummy_value()

    return types.void(array, types.int64), code


@intrinsic
def splat(typing, array, number):
    """A vector of the array's dtype with `number` in all lanes."""
    vector = Vector(array.dtype)

    def code(context, builder, signature, args):
        return spread(builder, context.cast(builder, args[1], number, array.dtype), vector.ir)

    return vector(array, number), code


@intrinsic
def counting(typing, array):
    """A vector of the array's dtype: 0, 1, 2 ..."""
    vector = Vector(array.dtype)

    def code(context, builder, signature, args):
        return ir.Constant(vector.ir, [float(lane) for lane in range(vector.lanes)])

    return vector(array), code


def _operation(operation, name: str) -> None:
    @intrinsic
    def compute(typing, a, b):
        return a(a, b), lambda context, builder, signature, args: getattr(builder, name)(*args)

    @overload(operation)
    def of_vectors(a, b):
        if isinstance(a, Vector) and isinstance(b, Vector):
            return lambda a, b: compute(a, b)
        return None


_operation(operator.add, "fadd")
_operation(operator.sub, "fsub")
_operation(operator.mul, "fmul")


@intrinsic
def larger(typing, a, b):
    """The larger number in each lane, that of `b` where one is NaN."""

    def code(context, builder, signature, args):
        return builder.select(builder.fcmp_ordered(">", *args), *args)

    return a(a, b), code


@intrinsic
def between(typing, low, x, high, yes, no):
    """`yes` in the lanes where low <= x <= high, else `no`."""

    def code(context, builder, signature, args):
        low, x, high, yes, no = args
        above, below = builder.fcmp_ordered("<=", low, x), builder.fcmp_ordered("<=", x, high)
        return builder.select(builder.and_(above, below), yes, no)

    return low(low, low, low, low, low), code


@intrinsic
def exp(typing, x):
    """exp(x) where x <= 0 or little above, to 1e-7 (float32) or 2e-16 (float64) of it; NaN of NaN.

    What is below the least normal number becomes 0.
    """
    # exp(x) = 2^n exp(r) with |r| <= log(2) / 2: n by adding a number so large that the sum has no place
    # for fractions, which also leaves n in its last bits; exp(r) by its series. log(2) is taken in two
    # parts, the first so short that n times it is exact.
    single = x.size == 4
    bits, least, degree = (23, -87.0, 7) if single else (52, -708.0, 13)
    log2 = (
        (0.693359375, -2.12194440e-4)
        if single
        else (6.93147180369123816490e-01, 1.90821492927058770002e-10)
    )

    def code(context, builder, signature, args):
        [x] = args
        kind = x.type
        number = lambda value: const(kind, value)  # noqa: E731
        small = builder.fcmp_ordered("<", x, number(least))
        inside = builder.select(small, number(least), x)
        shifted = call(builder, "fma", inside, number(1 / math.log(2)), number(1.5 * 2.0**bits))
        n = builder.fsub(shifted, number(1.5 * 2.0**bits))
        r = inside
        for part in log2:
            r = call(builder, "fma", n, number(-part), r)
        series = number(1 / math.factorial(degree))
        for k in reversed(range(degree)):
            series = call(builder, "fma", series, r, number(1 / math.factorial(k)))
        integers = ir.VectorType(ir.IntType(bits + 9 if single else bits + 12), kind.count)
        power = builder.shl(builder.bitcast(shifted, integers), const(integers, bits))
        y = builder.bitcast(builder.add(builder.bitcast(series, integers), power), kind)
        y = builder.select(small, number(0.0), y)
        return builder.select(builder.fcmp_unordered("uno", x, x), x, y)

    return x(x), code


@intrinsic
def transpose(
    typing,
    a,
    a_at,
    a_next,
    a_rows,
    out,
    out_at,
    out_next,
    out_rows,
    factor,
):
    """out[j, i] = a[i, j] * factor for the first `lanes` i and j, where row i begins at `at + i * next`.

    Where `a` has less rows, its last stands for those that are missing; of `out`, no more than `out_rows`
    are written.
    """
    vector = Vector(a.dtype)
    n = vector.lanes

    def code(context, builder, signature, args):
        a_, a_at, a_next, a_rows, out_, out_at, out_next, out_rows, factor = args
        factor = spread(builder, factor, vector.ir)

        def index(value: int):
            return ir.Constant(INDEX, value)

        def shuffled(x, y, picks: list[int]):
            picked = ir.Constant(ir.VectorType(ir.IntType(32), n), picks)
            return builder.shuffle_vector(x, y, picked)

        rows, last = [], builder.sub(a_rows, index(1))
        for i in range(n):
            source_row = builder.select(builder.icmp_signed("<", index(i), a_rows), index(i), last)
            at = builder.add(a_at, builder.mul(a_next, source_row))
            row = read(builder, vector, pointer(context, builder, a, a_, at))
            rows.append(builder.fmul(row, factor))
        # Exchange the quarters off the diagonal, then within each quarter, down to single numbers.
        step = n // 2
        while step:
            for i in range(n):
                if not i & step:
                    x, y = rows[i], rows[i + step]
                    upper = [n + j - step if j & step else j for j in range(n)]
                    lower = [n + j if j & step else j + step for j in range(n)]
                    rows[i], rows[i + step] = shuffled(x, y, upper), shuffled(x, y, lower)
            step //= 2
        for j, row in enumerate(rows):
            with builder.if_then(builder.icmp_signed("<", index(j), out_rows)):
                at = builder.add(out_at, builder.mul(out_next, index(j)))
                write(builder, vector, row, pointer(context, builder, out, out_, at))
        return context.get_dummy_value()

    int64 = types.int64
    return types.void(a, int64, int64, int64, out, int64, int64, int64, a.dtype), code
