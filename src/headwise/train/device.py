"""Device selection, and default dtype and device for new modules."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import torch

from headwise.errors import ConfigError


def pick_device(name: torch.device | str) -> torch.device:
    """The device of this name; `auto` is CUDA where available, else the CPU.

    Raises:
        ConfigError: The device is unknown or not available.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).tolist()  # fails on the meta device, which has no values
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        why = str(error).splitlines()[0].split(". ")[0]  # for a missing backend, PyTorch lists all others
        raise ConfigError(
            f"the device {str(name)!r} cannot be used: {why}; auto takes what there is"
        ) from None
    return device


@contextmanager
def usual() -> Iterator[None]:
    """Create modules in float32 and on the CPU within this context, whatever `torch.set_default_dtype` and
    `torch.set_default_device` say."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    elsewhere = torch.empty(0).device.type != "cpu"  # entering the CPU context costs time
    try:
        with torch.device("cpu") if elsewhere else nullcontext():
            yield
    finally:
        torch.set_default_dtype(before)
