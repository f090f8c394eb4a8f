"""Functions that depend on a mode of PyTorch: inference mode, compilation, gradients.

`cacheable_tensors` creates tensors that later batches can use, outside inference mode and `torch.func`
transforms. `exclude_from_compile` excludes a function from `torch.compile`. `checkpointed` saves memory:
the backward pass computes the function again.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

import torch
from torch import Tensor
from torch._C._functorch import peek_interpreter_stack
from torch.utils._python_dispatch import _get_current_dispatch_mode
from torch.utils.checkpoint import checkpoint

Inputs = ParamSpec("Inputs")
Result = TypeVar("Result")
Backward = TypeVar("Backward", bound=Callable[..., object])


@contextmanager
def cacheable_tensors() -> Generator[None]:
    """Within this context, tensors are created outside inference mode, whose tensors cannot be used in
    later training, and outside `torch.func` transforms such as a Hessian, whose tensors are invalid after
    the transform ends.

    The inputs of these tensors must not come from either.
    """
    with torch.inference_mode(False):
        if peek_interpreter_stack() is None:
            yield
        else:
            # A private name of PyTorch, which may change; imported only inside these transforms.
            from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack

            with temporarily_clear_interpreter_stack():
                yield


def is_ordinary() -> bool:
    """Whether tensors created now are ordinary ones without `cacheable_tensors`, which takes time."""
    return not torch.is_inference_mode_enabled() and peek_interpreter_stack() is None


def is_cacheable() -> bool:
    """Whether tensors created now can be cached beyond this batch: False under a dispatch mode that traces
    or uses tensors without data, such as `torch.export`."""
    return _get_current_dispatch_mode() is None


def exclude_from_compile(function: Callable[Inputs, Result]) -> Callable[Inputs, Result]:
    """Exclude a function that cannot be traced from compilation. Outside `torch.compile` the function is
    returned unchanged, since `torch.compiler.disable` would load the compiler."""
    if not torch.compiler.is_compiling():
        return function
    return cast(Callable[Inputs, Result], torch.compiler.disable(function))


def checkpointed(
    function: Callable[Inputs, Result], *arguments: Inputs.args, **named: Inputs.kwargs
) -> Result:
    """The result of a function of tensors, whose gradient keeps only the arguments and computes the result
    again. The function draws nothing at random.

    Under the transforms of `torch.func`, which cannot do that, it is computed as it stands.
    """
    if peek_interpreter_stack() is not None:
        return function(*arguments, **named)
    return checkpoint(function, *arguments, use_reentrant=False, preserve_rng_state=False)


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


def once_differentiable(advice: str = "") -> Callable[[Backward], Backward]:
    """The gradient of an autograd function, whose own gradient is an error: for kernels whose gradient is
    not made of differentiable parts.

    PyTorch's function of this name does not suffice: `torch.autograd.grad` of some inputs leaves out the
    error node that it puts into the graph, and the remaining gradient is wrong.

    Args:
        advice: What to do instead, if there is something.

    Raises:
        RuntimeError: It is computed so that it can be differentiated again (`create_graph=True`).
    """

    def decorated(backward: Backward) -> Backward:
        @wraps(backward)
        def checked(ctx: object, *gradients: Tensor) -> object:
            if torch.is_grad_enabled():
                problem = f"the gradient {backward.__qualname__} cannot be differentiated itself"
                instead = f"; {advice}" if advice else ""
                raise RuntimeError(f"{problem} (create_graph=True){instead}")
            return backward(ctx, *gradients)

        return checked  # type: ignore[return-value]

    return decorated
