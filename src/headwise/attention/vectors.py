"""Vectors of floating-point numbers as a type of Numba, and the LLVM code that makes and moves them.

LLVM turns plain loops into vector code only where it can prove that no two arrays overlap, which it cannot
in the kernels of attention. So these name their vectors: a `Vector` is one register full (more than one
where the processor has narrower ones).

This file needs Numba; only kernels import it.
"""

from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel.models import PrimitiveModel
from numba.extending import register_model

INDEX = ir.IntType(64)
WIDE = bool(llvm.get_host_cpu_features().get("avx512f", False))
BYTES = 64 if WIDE else 32


class Vector(types.Type):
    """A vector of as many numbers as an array's `lanes`."""

    def __init__(self, dtype: Any):
        self.dtype = dtype
        self.size = dtype.bitwidth // 8
        self.lanes = BYTES // self.size
        super().__init__(name=f"Vector({dtype}x{self.lanes})")

    @property
    def ir(self) -> ir.VectorType:
        return ir.VectorType(ir.FloatType() if self.size == 4 else ir.DoubleType(), self.lanes)


@register_model(Vector)
class _Model(PrimitiveModel):
    def __init__(self, manager: Any, vector: Vector):
        super().__init__(manager, vector, vector.ir)


def const(vector: ir.VectorType, value: float) -> ir.Constant:
    """A vector with the same constant in all lanes."""
    return ir.Constant(vector, [value] * vector.count)


def call(builder: Any, name: str, *args: Any) -> Any:
    """An LLVM intrinsic function of vectors."""
    kind = args[0].type
    bits = 32 if isinstance(kind.element, ir.FloatType) else 64
    signature = ir.FunctionType(kind, [kind] * len(args))
    name = f"llvm.{name}.v{kind.count}f{bits}"
    return builder.call(cgutils.get_or_insert_function(builder.module, signature, name), args)


def spread(builder: Any, scalar: Any, vector: ir.VectorType) -> Any:
    """A vector with the same number in all lanes."""
    nothing = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(nothing, scalar, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, nothing, const(ir.VectorType(ir.IntType(32), vector.count), 0))


def pointer(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    """Where `array[index]` lies."""
    return builder.gep(context.make_array(kind)(context, builder, array).data, [index])


def read(builder: Any, vector: Vector, at: Any) -> Any:
    """The vector that begins at a pointer."""
    return builder.load(builder.bitcast(at, vector.ir.as_pointer()), align=vector.size)


def write(builder: Any, vector: Vector, value: Any, at: Any) -> None:
    """Write a vector to where a pointer shows."""
    builder.store(value, builder.bitcast(at, vector.ir.as_pointer()), align=vector.size)
