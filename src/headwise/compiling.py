"""Exclude functions from `torch.compile`."""

from collections.abc import Callable
from typing import Any

import torch


def uncompiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Exclude a function that cannot be traced from compilation. Outside `torch.compile` the function is
    returned unchanged, since `torch.compiler.disable` would load the compiler."""
    return torch.compiler.disable(function) if torch.compiler.is_compiling() else function
