"""Windows: a head sees the positions around each position.

`Window` is cut at the ends of the text (MS-Transformer, Eq. 6-8); `ShiftedWindow` keeps its width there
(NATTEN). `Everything` is the window without limits: plain attention.
"""

from __future__ import annotations  # the priors are read without torch

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from headwise.core.errors import ConfigError
from headwise.nn.priors.base import (
    Band,
    Lengths,
    PositionPairs,
    Prior,
    check_odd_width,
    non_negative,
    plain_number,
    smaller_reach,
)

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Everything(Prior):
    """Every position sees every position of its text (Vaswani et al. 2017)."""

    name: ClassVar[str] = "everything"

    def band(self, lengths: Lengths) -> Band:
        reach = non_negative(lengths - 1)
        return Band(reach, reach)

    def __str__(self) -> str:
        return "everything"


@dataclass(frozen=True)
class Window(Prior):
    """A hard window of a scale omega, cut at the ends of the text (MS-Transformer, Eq. 6-8).

    The scale is the full odd width: `width=3` sees one position to each side. `fraction=1/16` makes it a
    part of the text's own length n: omega = 2 * floor(n * fraction / 2) + 1, the nearest odd number not
    above n * fraction + 1, so never 0. (Eq. 7 read literally takes omega as the half width; its figure,
    its text and "forced to be odd" say full width.)

    Args:
        width: Full width in positions, odd, at least 1.
        fraction: Full width as a part of the text's length, more than 0, at most 2; instead of `width`.

    Raises:
        ConfigError: Both or neither are given, or the value is not possible.
    """

    width: int | None = None
    fraction: float | None = None
    name: ClassVar[str] = "window"

    def __post_init__(self) -> None:
        if (self.width is None) == (self.fraction is None):
            raise ConfigError("Window takes either width= or fraction=, and needs one of them")
        if self.width is not None:
            check_odd_width(self, "a window")
        if self.fraction is not None and (not plain_number(self, "fraction") or not 0 < self.fraction <= 2):
            raise ConfigError(
                f"the fraction of a window must be more than 0 and at most 2, with which all words see the "
                f"whole text, got {self.fraction!r}; a window of 3 words is a whole number, 3"
            )

    def half(self, lengths: Lengths) -> Lengths:
        """How many positions are seen to each side, `[texts]`, before the ends of the text cut it."""
        if self.width is not None:
            return lengths * 0 + (self.width - 1) // 2
        part = self._part
        return lengths * part.numerator // (2 * part.denominator)

    @cached_property
    def _part(self) -> Fraction:
        """The fraction, exact for 1/16, 1/3 ...: no float rounding of n * fraction."""
        return Fraction(self.fraction or 0).limit_denominator(1_000_000)

    def visible(self, pairs: PositionPairs) -> Tensor:
        return (pairs.query - pairs.key).abs() <= self.half(pairs.length)

    def band(self, lengths: Lengths) -> Band:
        reach = smaller_reach(self.half(lengths), non_negative(lengths - 1))
        return Band(reach, reach)

    @property
    def sees_self(self) -> bool:
        return True

    @property
    def is_identity(self) -> bool:
        return self.width == 1

    def __str__(self) -> str:
        if self.width is not None:
            return f"window {self.width}"
        part = self._part
        top = "n" if part.numerator == 1 else f"{part.numerator}n"
        return f"window {top}/{part.denominator}" if part.denominator != 1 else f"window {top}"


@dataclass(frozen=True)
class ShiftedWindow(Prior):
    """A window that moves inward at the ends of the text, so that it keeps its width (NATTEN).

    Every position sees `width` positions, or the whole text where that is shorter (neighbourhood attention;
    Hassani et al. 2023; Eq. 2).

    Args:
        width: Positions seen, odd, at least 1.

    Raises:
        ConfigError: The width is not possible.
    """

    width: int
    name: ClassVar[str] = "shifted-window"

    def __post_init__(self) -> None:
        check_odd_width(self, "a shifted window")

    def visible(self, pairs: PositionPairs) -> Tensor:
        import torch

        last = (pairs.length - self.width).clamp(min=0)
        first = torch.minimum((pairs.query - self.width // 2).clamp(min=0), last)
        return (pairs.key >= first) & (pairs.key < first + self.width)

    @property
    def sees_self(self) -> bool:
        return True

    @property
    def is_identity(self) -> bool:
        return self.width == 1

    def __str__(self) -> str:
        return f"shifted window {self.width}"
