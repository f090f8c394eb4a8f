"""Priors of direction: a head sees only one side of each position.

`Forward` and `Backward` include the position itself (MS-SAN, Eq. 3-4); `Earlier` and `Later` leave it out
(DiSAN).
"""

from __future__ import annotations  # the priors are read without torch

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from headwise.nn.priors.base import Band, Lengths, PositionPairs, Prior, non_negative

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Forward(Prior):
    """Each position sees itself and those before it (MS-SAN, Qi et al. 2020; Eq. 3 transposed, as its text
    says)."""

    name: ClassVar[str] = "forward"

    def visible(self, pairs: PositionPairs) -> Tensor:
        return pairs.key <= pairs.query

    def band(self, lengths: Lengths) -> Band:
        return Band(non_negative(lengths - 1), lengths * 0)

    @property
    def sees_self(self) -> bool:
        return True

    def __str__(self) -> str:
        return "forward"


@dataclass(frozen=True)
class Backward(Prior):
    """Each position sees itself and those after it (MS-SAN, Eq. 4 transposed)."""

    name: ClassVar[str] = "backward"

    def visible(self, pairs: PositionPairs) -> Tensor:
        return pairs.key >= pairs.query

    def band(self, lengths: Lengths) -> Band:
        return Band(lengths * 0, non_negative(lengths - 1))

    @property
    def sees_self(self) -> bool:
        return True

    def __str__(self) -> str:
        return "backward"


@dataclass(frozen=True)
class Earlier(Prior):
    """Each position sees those before it (the forward mask of DiSAN, Shen et al. 2018). The first sees
    nothing; its output is 0."""

    name: ClassVar[str] = "earlier"

    def visible(self, pairs: PositionPairs) -> Tensor:
        return pairs.key < pairs.query

    def band(self, lengths: Lengths) -> Band:
        return Band(non_negative(lengths - 1), lengths * 0 - 1)

    def __str__(self) -> str:
        return "earlier"


@dataclass(frozen=True)
class Later(Prior):
    """Each position sees those after it (the backward mask of DiSAN). The last sees nothing; its output is
    0."""

    name: ClassVar[str] = "later"

    def visible(self, pairs: PositionPairs) -> Tensor:
        return pairs.key > pairs.query

    def band(self, lengths: Lengths) -> Band:
        return Band(lengths * 0 - 1, non_negative(lengths - 1))

    def __str__(self) -> str:
        return "later"
