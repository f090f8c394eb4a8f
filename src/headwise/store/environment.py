"""The software and hardware environment of a training run."""

import platform
from typing import Any

import numpy as np
import torch

from headwise import __version__
from headwise.attention import compiled


def describe_environment(seed: int | None = None) -> dict[str, Any]:
    """Versions, platform, threads and attention kernels as a JSON object."""
    return {
        "headwise": __version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "platform": platform.platform(),
        "threads": torch.get_num_threads(),
        "kernels": compiled.describe(),
        "seed": seed,
    }
