"""The device that a setting names, and the numbers that models are made of."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import torch

from headwise.errors import ConfigError


def pick_device(name: torch.device | str) -> torch.device:
    """`auto` takes a CUDA device where there is one.

    Raises:
        ConfigError: The device is unknown or is not there.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).tolist()  # of the device meta there are no values
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        why = str(error).splitlines()[0].split(". ")[0]  # of a missing backend PyTorch lists all others
        raise ConfigError(
            f"the device {str(name)!r} cannot be used: {why}; auto takes what there is"
        ) from None
    return device


@contextmanager
def usual() -> Iterator[None]:
    """Within this, modules are made of float32 and on the CPU, whatever `torch.set_default_dtype` and
    `torch.set_default_device` have said."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    elsewhere = torch.empty(0).device.type != "cpu"  # to ask each time for the CPU takes time
    try:
        with torch.device("cpu") if elsewhere else nullcontext():
            yield
    finally:
        torch.set_default_dtype(before)
