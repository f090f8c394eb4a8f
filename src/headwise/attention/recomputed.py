"""Compute again on the way back what would fill the memory until then."""

from collections.abc import Callable
from typing import Any

from torch._C._functorch import peek_interpreter_stack
from torch.utils.checkpoint import checkpoint


def recomputed(function: Callable[..., Any], *arguments: Any) -> Any:
    """The result of a function of tensors, whose gradient keeps only the arguments and computes the result
    again. The function draws nothing at random.

    Under the transforms of `torch.func`, which cannot do that, it is computed as it stands.
    """
    if peek_interpreter_stack() is not None:
        return function(*arguments)
    return checkpoint(function, *arguments, use_reentrant=False, preserve_rng_state=False)
