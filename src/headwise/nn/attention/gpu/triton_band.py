"""Attention within bands, on CUDA GPUs, straight on ragged rows: nothing is padded, nothing is [n, n].

Runs every head whose prior is a `Band`, with the kernels of `headwise.nn.attention.gpu.triton_kernels`,
forward and backward. Work grows with the band. Sums are in float32 whatever is stored; float32 is
multiplied exactly, unless PyTorch may use TF32 for its own products. Nothing is added atomically: the
same input gives the same output and gradients. Each block size is compiled once, when it is first used,
whatever the lengths of the texts.
"""

import functools
import importlib
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType

import numpy as np
import torch
from torch import Tensor

from headwise.core.errors import ConfigError
from headwise.nn.attention.bands import attending_bands, reference_gradients, unbanded_reason
from headwise.nn.layout import Layout
from headwise.nn.priors import Band, Prior
from headwise.runtime.banded_plan import cut_texts

_ALIGN = 16  # the most that is made use of
_WIDEST = 256  # features of a head
_DTYPES = (torch.float32, torch.bfloat16, torch.float16)
_CAPABILITY = (8, 0)  # the oldest GPU with bfloat16


def unsupported_reason(query: Tensor, priors: Sequence[Prior], layout: Layout) -> str | None:
    """Why `attention` cannot run this, or None where it can."""
    if query.device.type != "cuda" and not (query.device.type == "cpu" and _interpreter_wanted()):
        return f"it runs on CUDA GPUs, the rows are on {query.device.type}"
    if query.dtype not in _DTYPES:
        return f"it does not compute in {query.dtype}"
    if query.shape[-1] > _WIDEST:
        return f"its heads have at most {_WIDEST} features, these have {query.shape[-1]}"
    if (why := unbanded_reason(priors, layout)) is not None:
        return why
    if torch.compiler.is_compiling() or torch._C._get_tracing_state() is not None:
        return "it cannot be traced"
    kernels = _kernels()
    if isinstance(kernels, str):
        return kernels
    if kernels.INTERPRETED is None or _interpreter_wanted() != kernels.INTERPRETED:
        return "TRITON_INTERPRET was changed after Triton had been imported"
    if kernels.INTERPRETED and query.dtype == torch.bfloat16:
        return "Triton's interpreter does not multiply bfloat16"
    if query.is_cuda and torch.cuda.get_device_capability(query.device) < _CAPABILITY:
        return f"it needs a GPU of compute capability {'.'.join(map(str, _CAPABILITY))}"
    return None


def slower_reason(query: Tensor, priors: Sequence[Prior], layout: Layout) -> str | None:
    """Why fused attention would be faster, or None where this is."""
    return "Triton's interpreter (TRITON_INTERPRET) is there for tests" if _interpreter_wanted() else None


def attention(query: Tensor, key: Tensor, value: Tensor, priors: Sequence[Prior], layout: Layout) -> Tensor:
    """Computes the same function as `headwise.nn.attention.reference.attention`; see there.

    `query` and `key` may leave out the heads that see only themselves.
    """
    if value.shape[2] > _WIDEST:  # the weights do not depend on the values
        parts = value.split(_WIDEST, dim=2)
        return torch.cat([attention(query, key, part, priors, layout) for part in parts], dim=2)
    shape = _Shape.of(query, value)
    plan = _TritonPlan.of(layout, tuple(priors), query, shape.rows)
    return _TritonBand.apply(query, key, value, plan, shape, (priors, layout))


def _interpreter_wanted() -> bool:
    return os.environ.get("TRITON_INTERPRET", "").lower() in ("1", "true", "on", "y", "yes")


@functools.cache
def _kernels() -> ModuleType | str:
    """The kernels, or the reason why there are none."""
    try:
        return importlib.import_module("headwise.nn.attention.gpu.triton_kernels")
    except ImportError as error:
        return f"Triton cannot be imported ({error})"


class _TritonBand(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        plan: "_TritonPlan",
        shape: "_Shape",
        made_for: tuple[Sequence[Prior], Layout],
    ) -> Tensor:
        q, k, v = (_side_by_side(x) for x in (query, key, value))
        out = plan.empty_like(v)
        logs = q.new_empty((q.shape[1], q.shape[0]), dtype=torch.float32)
        plan.run("forward", (q, k, v, out, logs), (q, k, v, out), (shape.scale,), shape)
        ctx.save_for_backward(query, key, value, out, logs)
        ctx.plan, ctx.shape, ctx.made_for = plan, shape, made_for
        return out

    @staticmethod
    def backward(ctx, *grad_outputs: Tensor) -> tuple[Tensor | None, ...]:
        (grad,) = grad_outputs
        query, key, value, out, logs = ctx.saved_tensors
        if torch.is_grad_enabled():  # it is to be differentiated again
            return *reference_gradients(query, key, value, *ctx.made_for, grad=grad), None, None, None
        q, k, v = (_side_by_side(x) for x in (query, key, value))
        plan, shape = ctx.plan, ctx.shape
        grad = _side_by_side(grad)
        dq, dk = (torch.empty_like(x, memory_format=torch.contiguous_format) for x in (q, k))
        dv, deltas = plan.empty_like(grad), torch.empty_like(logs)
        scales = (shape.scale, shape.size**-0.5)
        strided = (q, k, v, out, grad, dq)
        plan.run("backward_queries", (*strided, logs, deltas), strided, scales, shape)
        strided = (q, k, v, grad, dk, dv)
        plan.run("backward_keys", (*strided, logs, deltas), strided, scales, shape)
        return dq, dk, dv, None, None, None


def _side_by_side(x: Tensor) -> Tensor:
    """The tensor with the features of each head contiguous in memory."""
    return x if x.stride(2) == 1 else x.contiguous()


@dataclass(frozen=True)
class _Shape:
    """Compile-time parameters of the kernels.

    Attributes:
        size: Features of a query.
        value_size: Features of a value.
        bits: Bits of a number.
        rows: Rows of a text that one program owns.
        keys: Rows of the other side in a block.
        warps: Number of warps.
        stages: Number of blocks that are loaded ahead.
        precision: Precision of float32 products.
    """

    size: int
    value_size: int
    bits: int
    rows: int
    keys: int
    warps: int
    stages: int
    precision: str

    @classmethod
    def of(cls, query: Tensor, value: Tensor) -> "_Shape":
        size, value_size = query.shape[2], value.shape[2]
        bits = 8 * query.dtype.itemsize
        widest = max(_width(size), _width(value_size))
        precision = "tf32" if bits == 32 and _may_use_tf32() else "ieee"
        return cls(size, value_size, bits, *_BLOCKS[bits, widest], precision)

    @property
    def full_blocks(self) -> bool:
        """Whether it pays to see which blocks are entirely within the band: exact products of float32 take
        so long, to compute as well as to compile, that it does not."""
        return self.bits < 32 or self.precision != "ieee"

    @property
    def scale(self) -> float:
        """Factor of the logits, in units of log 2."""
        return self.size**-0.5 / math.log(2)


# Bits of a number and (padded) features of a head: rows, keys, warps, stages. So that what a program holds
# fits into the registers, and 99 KiB of shared memory.
_BLOCKS = {
    (16, 16): (64, 32, 4, 3),
    (16, 32): (64, 32, 4, 3),
    (16, 64): (64, 32, 4, 3),
    (16, 128): (64, 32, 4, 2),
    (16, 256): (32, 32, 8, 2),
    (32, 16): (32, 32, 4, 2),
    (32, 32): (32, 32, 4, 2),
    (32, 64): (32, 32, 8, 2),
    (32, 128): (32, 16, 8, 2),
    (32, 256): (16, 16, 8, 2),
}


def _width(size: int) -> int:
    """Features after padding: a power of 2 that a matrix product can have."""
    return max(16, 1 << (size - 1).bit_length())


def _may_use_tf32() -> bool:
    matmul = torch.backends.cuda.matmul
    setting = getattr(matmul, "fp32_precision", None)  # since PyTorch 2.9, where asking for both fails
    return setting == "tf32" if isinstance(setting, str) else bool(matmul.allow_tf32)


@dataclass(frozen=True)
class _TritonPlan:
    """Work items of priors on the texts of a batch; cached in the layout's memo.

    Attributes:
        items: `[items, 8]`, int32, see `headwise.nn.attention.gpu.triton_kernels`; the most work first.
        slopes: `[heads]`, float32, in the units of the logits.
        sloped: Whether any of them is not 0.
        has_value_heads: Whether there are heads without query and key, whose output is their value.
    """

    items: Tensor
    slopes: Tensor
    sloped: bool
    has_value_heads: bool

    @classmethod
    def of(cls, layout: Layout, priors: tuple[Prior, ...], query: Tensor, rows: int) -> "_TritonPlan":
        """The plan of priors on the texts of a batch, for heads with these queries (see `attending_bands`);
        a work item has `rows` rows of a text."""
        key = (cls, priors, query.shape[1], query.device, rows)

        def make() -> "_TritonPlan":
            attending, bands = attending_bands(priors, layout, query.shape[1])
            items = _to(torch.from_numpy(_items(layout.sizes, attending, bands, rows)), query.device)
            slopes = [band.slope / math.log(2) for band in bands]
            on_device = _to(torch.tensor(slopes, dtype=torch.float32), query.device)
            return cls(items, on_device, any(slopes), len(attending) < len(priors))

        return layout.cached(key, make)

    def empty_like(self, x: Tensor) -> Tensor:
        """Room for the output or its gradient, with that of the heads without query and key in place."""
        make = torch.clone if self.has_value_heads else torch.empty_like
        return make(x, memory_format=torch.contiguous_format)

    def run(
        self,
        kernel: str,
        tensors: Sequence[Tensor],
        strided: Sequence[Tensor],
        scales: Sequence[float],
        shape: _Shape,
    ) -> None:
        """Start a kernel for all items, on tensors of which some have steps between rows and heads."""
        kernels = _kernels()
        if isinstance(kernels, str):
            raise ConfigError(f"Triton's banded attention cannot run: {kernels}")
        if not len(self.items):
            return
        steps = [step for x in strided for step in x.stride()[:2]]
        align = math.gcd(_ALIGN, *steps)
        with torch.cuda.device_of(self.items):
            getattr(kernels, kernel)[len(self.items),](
                *tensors,
                self.items,
                self.slopes,
                *(step // align for step in steps),
                strided[0].shape[0],
                *scales,
                SIZE=shape.size,
                VALUE_SIZE=shape.value_size,
                WIDTH=_width(shape.size),
                VALUE_WIDTH=_width(shape.value_size),
                ALIGN=align,
                ROWS=shape.rows,
                KEYS=shape.keys,
                WHOLE=shape.full_blocks,
                SLOPED=self.sloped,
                PRECISION=shape.precision,
                num_warps=shape.warps,
                num_stages=shape.stages,
            )


def _items(sizes: Sequence[int], attending: Sequence[int], bands: Sequence[Band], rows: int) -> np.ndarray:
    """See `_TritonPlan.items`."""
    lengths = np.array(sizes, np.int64)
    starts = lengths.cumsum() - lengths
    text, begin = cut_texts(lengths, rows)
    items = np.zeros((len(text), len(bands), 8), np.int32)
    items[:, :, 0] = np.arange(len(bands))
    items[:, :, 1] = attending
    for place, column in enumerate((starts[text], lengths[text], begin), start=2):
        items[:, :, place] = column[:, None]
    for head, band in enumerate(bands):
        items[:, head, 5] = np.asarray(band.left)[text]
        items[:, head, 6] = np.asarray(band.right)[text]
    items = items.reshape(-1, 8)
    _, _, _, length, first, left, right, _ = items.T
    seen = np.minimum(first + rows + right, length) - np.maximum(first - left, 0)
    return items[np.argsort(-seen, kind="stable")]


def _to(x: Tensor, device: torch.device) -> Tensor:
    """The array on a GPU, copied asynchronously."""
    return x.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else x
