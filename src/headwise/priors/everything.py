"""Everything: no prior at all, plain attention."""

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from headwise.priors.base import Band, Prior


@dataclass(frozen=True)
class Everything(Prior):
    """Every position sees every position of its text (Vaswani et al. 2017)."""

    name: ClassVar[str] = "everything"

    def band(self, lengths: Tensor) -> Band:
        reach = (lengths - 1).clamp(min=0)
        return Band(reach, reach)

    def __str__(self) -> str:
        return "everything"
