"""Dropout with a mask that is computed from a key and the place of each value.

A layer draws one number, its key, from the generator of torch in each pass, so the saved state of the
generator resumes a run to the same bits. To draw each value of a mask in turn takes a tenth of a step.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from headwise.core import native

_MOST = 1 << 31  # values of one key


class Dropout(nn.Dropout):
    """`torch.nn.Dropout`, with other random numbers for floats in the memory of the processor."""

    def forward(self, input: Tensor) -> Tensor:
        return dropout(input, self.p) if self.training else input


def dropout(values: Tensor, probability: float) -> Tensor:
    """The values, of any shape: each is 0 with this probability and otherwise divided by the probability to
    stay."""
    if not probability:
        return values
    return keyed_dropout(values, draw_key() if _is_keyed(values, probability) else 0, probability)


def draw_key() -> int:
    """A key from the generator of torch."""
    return int(torch.empty((), dtype=torch.int64, device="cpu").random_().item())


def keyed_dropout(values: Tensor, key: int, probability: float) -> Tensor:
    """`dropout` with the mask of a key; where there are none, with a mask that torch draws."""
    if not probability:
        return values
    if not _is_keyed(values, probability):
        return functional.dropout(values, probability)
    return _KeyedDropout.apply(values, key, probability)


def _is_keyed(values: Tensor, probability: float) -> bool:
    """Whether the masks of these values are computed from a key."""
    usable = values.device.type == "cpu" and values.dtype in (torch.float32, torch.float64)
    return usable and probability < 1 and values.numel() <= _MOST and not torch.compiler.is_compiling()


class _KeyedDropout(torch.autograd.Function):
    """The backward pass computes the mask again, so that none is stored."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, key: int, probability: float) -> Tensor:
        ctx.key, ctx.probability = key, probability
        values = values.detach().contiguous()
        result = torch.empty_like(values)
        native.dropout(values.view(-1).numpy(), result.view(-1).numpy(), key, probability)
        return result

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        return _KeyedDropout.apply(gradients[0], ctx.key, ctx.probability), None, None

    @staticmethod
    def jvp(ctx: Any, *tangents: Tensor) -> Tensor:
        return _KeyedDropout.apply(tangents[0], ctx.key, ctx.probability)
