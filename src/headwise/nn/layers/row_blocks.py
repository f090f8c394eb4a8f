"""Linear layers that multiply many rows block by block.

The libraries under torch multiply a tall, thin matrix at about half of the speed that they reach on 512
rows of it, whose factors stay in the cache of the processor.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import forward_ad
from torch.nn import functional

_BLOCK = 512  # rows
_TALL = 2048  # rows from which blocks are faster


class BlockedLinear(nn.Linear):
    """`torch.nn.Linear`, with the products of many rows in blocks."""

    def forward(self, input: Tensor) -> Tensor:
        return linear(input, self.weight, self.bias)


def linear(rows: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`torch.nn.functional.linear`, in blocks where that is faster.

    Args:
        rows: `[rows, size]`, or of any other shape, which is never cut.
        weight: `[outputs, size]`.
        bias: `[outputs]`, or None.
    """
    blocked = (
        not torch.compiler.is_compiling()  # nor exporting, which would fix the number of rows
        and forward_ad._current_level < 0
        and rows.dim() == 2
        and rows.shape[0] > _TALL
        and rows.device.type == "cpu"
        and rows.dtype == weight.dtype == torch.float32
        and not torch.is_autocast_enabled("cpu")
    )
    return _Blocked.apply(rows, weight, bias) if blocked else functional.linear(rows, weight, bias)


class _Blocked(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(rows, weight)
        result = rows.new_empty(len(rows), len(weight))
        for start in range(0, len(rows), _BLOCK):
            part, target = rows[start : start + _BLOCK], result[start : start + _BLOCK]
            if bias is None:
                torch.mm(part, weight.t(), out=target)
            else:
                torch.addmm(bias, part, weight.t(), out=target)
        return result

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        (gradient,), (rows, weight) = gradients, ctx.saved_tensors
        for_rows, for_weight, for_bias = ctx.needs_input_grad
        return (
            _Blocked.apply(gradient, weight.t(), None) if for_rows else None,
            gradient.t() @ rows if for_weight else None,
            gradient.sum(0) if for_bias else None,
        )
