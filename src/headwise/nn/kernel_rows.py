"""The rows that the kernels for the CPU take, and the switch that turns the kernels off."""

import os

import numpy as np
import torch
from torch import Tensor, nn
from torch._C._functorch import is_functorch_wrapped_tensor
from torch.autograd import forward_ad

from headwise.core import native

VARIABLE = "HEADWISE_KERNELS"
"""The environment variable: with `off`, attention is computed by operations of PyTorch."""

_DTYPES = (torch.float32, torch.float64, torch.bfloat16, torch.float16)


def unsupported_rows_reason(rows: Tensor) -> str | None:
    """Why the kernels cannot take such rows, or None where they can."""
    if rows.device.type != "cpu":
        return f"it runs on the CPU, the rows are on {rows.device.type}"
    if rows.dtype not in _DTYPES:
        return f"it does not compute in {rows.dtype}"
    if torch.compiler.is_compiling() or torch._C._get_tracing_state() is not None:
        return "it cannot be traced"
    if forward_ad._current_level >= 0:
        return "it has no derivatives in forward mode"
    if is_functorch_wrapped_tensor(rows) or type(rows) not in (Tensor, nn.Parameter):
        return "the rows are not plain tensors"
    return None


def switched_off_reason() -> str | None:
    """The message that the kernels are switched off; None if they are on."""
    return f"it is switched off by {VARIABLE}=off" if os.environ.get(VARIABLE) == "off" else None


def computable(*tensors: Tensor) -> list[Tensor]:
    """The tensors in the type in which they are computed: 16-bit ones in float32."""
    return [x.float() if x.dtype.itemsize == 2 else x for x in tensors]


def empty_statistics(query: Tensor) -> Tensor:
    """Room for the maximum of each row's logits, and 1 / the sum of its weights: `[2, heads, rows]`."""
    return query.new_empty(2, query.shape[1], query.shape[0])


def arrays_of(*tensors: Tensor) -> list[np.ndarray]:
    """Tensors as arrays of the same memory."""
    return [(x.detach() if x.requires_grad else x).numpy() for x in tensors]


def describe_kernels() -> str:
    """What computes attention on the CPU: kernels, with the width of their vectors in bits, or PyTorch."""
    if switched_off_reason() is not None:
        return f"switched off by {VARIABLE}=off"
    return f"vectors of {8 * native.vector_bytes()} bits"
