"""WordDistance: the farther away a word, the lower its score (MS-SAN, Eq. 5-6)."""

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from headwise.priors.base import Band, Pairs, Prior, check_number


@dataclass(frozen=True)
class WordDistance(Prior):
    """Adds `-alpha * |i - j|` to the score (MS-SAN, Qi et al. 2020, Eq. 5-6).

    Args:
        alpha: Per position of distance, in units of the scaled logits; 1.0 makes a head very local
            (a factor of 1/e for each step, before the content speaks). The paper's value is not public.
    """

    alpha: float = 1.0
    name: ClassVar[str] = "word-distance"

    def __post_init__(self) -> None:
        check_number(self, "alpha")

    def score(self, pairs: Pairs) -> Tensor:
        distance = (pairs.query - pairs.key).abs()
        # In float64, where there is one: float32 would round alpha and be off by 1e-8 in float64 models.
        return -self.alpha * (distance if distance.device.type == "mps" else distance.double())

    def band(self, lengths: Tensor) -> Band:
        reach = (lengths - 1).clamp(min=0)
        return Band(reach, reach, self.alpha)

    def __str__(self) -> str:
        return f"word distance {self.alpha:g}"
