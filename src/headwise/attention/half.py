"""Numbers of 16 bits on the processor, where PyTorch's fused attention is no good at them."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

import torch
from torch import Tensor

P = ParamSpec("P")
_HALF = (torch.float16, torch.bfloat16)


def in_float32(
    attend: Callable[Concatenate[Tensor, Tensor, Tensor, P], Tensor],
) -> Callable[Concatenate[Tensor, Tensor, Tensor, P], Tensor]:
    """Attention that computes in float32 what it is given in 16 bits on the processor, and gives 16 bits:
    the fused kernel is slower in these there (and autocast would pick it), and they are too few for large
    scores."""

    @wraps(attend)
    def computed(query: Tensor, key: Tensor, value: Tensor, *more: P.args, **named: P.kwargs) -> Tensor:
        if query.dtype not in _HALF or query.device.type != "cpu":
            return attend(query, key, value, *more, **named)
        with torch.autocast("cpu", enabled=False):
            return attend(query.float(), key.float(), value.float(), *more, **named).to(query.dtype)

    return computed
