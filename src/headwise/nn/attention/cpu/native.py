"""Common parts of the calls of compiled kernels: checks of input rows, and passing of memory."""

import numpy as np
import torch
from torch import Tensor, nn
from torch._C._functorch import is_functorch_wrapped_tensor

from headwise.core.errors import ConfigError
from headwise.nn.attention.cpu import compiled

SPARE = 32  # the kernels read whole vectors, beyond the last row
_DTYPES = (torch.float32, torch.float64, torch.bfloat16, torch.float16)


def unsupported_rows_reason(rows: Tensor) -> str | None:
    """Why kernels for the CPU cannot take such rows, or None where they can."""
    if rows.device.type != "cpu":
        return f"it runs on the CPU, the rows are on {rows.device.type}"
    if rows.dtype not in _DTYPES:
        return f"it does not compute in {rows.dtype}"
    if torch.compiler.is_compiling() or torch._C._get_tracing_state() is not None:
        return "it cannot be traced"
    if is_functorch_wrapped_tensor(rows) or type(rows) not in (Tensor, nn.Parameter):
        return "the rows are of another kind than plain tensors"
    return None


def library(name: str, what: str) -> compiled.Kernels:
    """A library of kernels; `what` cannot run without it.

    Raises:
        ConfigError: It cannot be had in this process.
    """
    ready = compiled.compiled_kernels(name)
    if isinstance(ready, str):
        raise ConfigError(f"{what} cannot run: {ready}")
    return ready


def computable(*tensors: Tensor) -> list[Tensor]:
    """Tensors as they are computed with: what is stored in 16 bits, in float32."""
    return [x.float() if x.dtype.itemsize == 2 else x for x in tensors]


def flat(x: Tensor) -> np.ndarray:
    """The memory that a tensor's elements are in, from its first element on."""
    steps = zip(x.shape, x.stride(), strict=True)
    extent = 1 + sum((n - 1) * step for n, step in steps) if x.numel() else 0
    return x.detach().as_strided((extent,), (1,)).numpy()
