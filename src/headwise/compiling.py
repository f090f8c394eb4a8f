"""What `torch.compile` is to leave alone."""

from collections.abc import Callable
from typing import Any

import torch


def uncompiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, to be called as it is where `torch.compile` is at work and cannot see through it.
    Elsewhere nothing is done: to disable what is not compiled would load the compiler."""
    return torch.compiler.disable(function) if torch.compiler.is_compiling() else function
