"""Create tensors that can be cached for later batches, outside inference mode and `torch.func`
transforms."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch._C._functorch import peek_interpreter_stack
from torch.utils._python_dispatch import _get_current_dispatch_mode


@contextmanager
def to_be_kept() -> Iterator[None]:
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


def outlasts() -> bool:
    """Whether tensors created now can be cached beyond this batch: False under a dispatch mode that traces
    or uses tensors without data, such as `torch.export`."""
    return _get_current_dispatch_mode() is None
