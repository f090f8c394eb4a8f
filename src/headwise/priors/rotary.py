"""Rotary: queries and keys are turned by their positions, so that their product knows the distance."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from headwise.errors import ConfigError
from headwise.priors.base import Prior, check_number


@dataclass(frozen=True)
class Rotary(Prior):
    """Rotary position embedding (RoPE; Su et al. 2021, Eq. 34).

    Features 2m and 2m + 1 of a query or key at position p are turned by the angle `p * base^(-2m/size)`. A
    product of two then depends on the positions by their distance alone. Nothing is learned. Of an odd
    number of features the last stays as it is. It is no `Band`, as that would say nothing of turning.

    Args:
        base: The larger, the slower the slowest pair of features turns.
    """

    base: float = 10000.0
    name: ClassVar[str] = "rotary"

    def __post_init__(self) -> None:
        check_number(self, "base")
        if self.base <= 1:
            raise ConfigError(f"the base of a rotary prior must be more than 1, got {self.base}")

    def rotate(self, rows: Tensor, place: Tensor) -> Tensor:
        size = rows.shape[-1] // 2 * 2
        exact = torch.float32 if rows.device.type == "mps" else torch.float64
        even = torch.arange(0, size, 2, dtype=exact, device=rows.device)
        angle = place.to(exact)[:, None] * self.base ** (-even / rows.shape[-1])
        cos, sin = angle.cos().to(rows.dtype), angle.sin().to(rows.dtype)
        x, y = rows[..., 0:size:2], rows[..., 1:size:2]
        turned = torch.stack([x * cos - y * sin, x * sin + y * cos], dim=-1).flatten(-2)
        return turned if size == rows.shape[-1] else torch.cat([turned, rows[..., size:]], dim=-1)

    def __str__(self) -> str:
        return "rotary" + (f" {self.base:g}" if self.base != 10000.0 else "")
