"""Where tensors are made that are kept for later batches: apart from whatever is computing now."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch._C._functorch import peek_interpreter_stack
from torch.utils._python_dispatch import _get_current_dispatch_mode


@contextmanager
def to_be_kept() -> Iterator[None]:
    """Within this, tensors are made outside inference mode, which would forbid that a batch that has been
    predicted is trained on later, and outside the transforms of `torch.func` (a Hessian, say), whose
    tensors are of no use to anybody when these have ended.

    What they are made of must be neither.
    """
    with torch.inference_mode(False):
        if peek_interpreter_stack() is None:
            yield
        else:
            # A name of PyTorch's own, which may change: of use to none but these transforms.
            from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack

            with temporarily_clear_interpreter_stack():
                yield


def outlasts() -> bool:
    """Whether what is made now can be kept beyond this batch: not where tensors without values, or what
    writes down what is computed, stand in for it (`torch.export`, say)."""
    return _get_current_dispatch_mode() is None
