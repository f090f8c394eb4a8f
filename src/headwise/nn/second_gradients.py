"""Gradients of an operation in a form that can be differentiated again (`create_graph=True`)."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor


def differentiable_gradients(
    plain: Callable[..., Any], gradients: Sequence[Tensor], needed: Sequence[bool], *arguments: Any
) -> tuple[Tensor | None, ...]:
    """The gradients of a function of PyTorch's operations.

    Args:
        plain: The function, of one or several results.
        gradients: Gradients of its results.
        needed: Whether each argument, a tensor, needs a gradient.
        arguments: The arguments.

    Returns:
        The gradient of each argument; None for arguments that need none.
    """
    with torch.enable_grad():
        # Each argument by itself: it may be computed from another one, as in a residual connection, or be
        # the same tensor. What passes through it would be counted twice.
        apart = [x.view_as(x) if need else x for x, need in zip(arguments, needed, strict=True)]
        results = plain(*apart)
    sources = [x for x, need in zip(apart, needed, strict=True) if need]
    computed = iter(torch.autograd.grad(results, sources, gradients, create_graph=True, allow_unused=True))
    return tuple(next(computed) if need else None for need in needed)
