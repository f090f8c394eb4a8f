"""Dilated: a window with gaps."""

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from headwise.errors import ConfigError
from headwise.priors.base import Pairs, Prior, check_whole


@dataclass(frozen=True)
class Dilated(Prior):
    """Every `step`-th position to each side of the own one (Longformer, Beltagy et al. 2020; 3.1).

    With a window on the same head, `Dilated(2) + Window(fraction=1/4)`, the width may follow the text's
    length.

    Args:
        step: Positions from one that is seen to the next, at least 1.
        width: Full width in positions, odd, gaps included; None for the whole text.
    """

    step: int
    width: int | None = None
    name: ClassVar[str] = "dilated"

    def __post_init__(self) -> None:
        check_whole(self, 1, "step")
        if self.width is not None:
            check_whole(self, 1, "width")
            if self.width % 2 == 0:
                raise ConfigError(f"the width of a dilated window must be odd, got {self.width}")

    def visible(self, pairs: Pairs) -> Tensor:
        distance = (pairs.query - pairs.key).abs()
        seen = distance % self.step == 0
        return seen if self.width is None else seen & (distance <= (self.width - 1) // 2)

    @property
    def sees_self(self) -> bool:
        return True

    @property
    def only_self(self) -> bool:
        return self.width is not None and (self.width - 1) // 2 < self.step

    def __str__(self) -> str:
        return f"dilated {self.step}" + (f" width {self.width}" if self.width is not None else "")
