"""Gaussian: the score falls with the square of the distance."""

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from headwise.errors import ConfigError
from headwise.priors.base import Pairs, Prior, check_number


@dataclass(frozen=True)
class Gaussian(Prior):
    """Adds `-|(i - j)^2 / (2 sigma^2) + offset|`: a bell around the own position.

    With an offset of 0 the weights are multiplied by the density of a normal distribution. Gaussian
    Transformer (Guo, Zhang, Liu; AAAI 2019) writes `-|w d^2 + b|`: w is `1 / (2 sigma^2)`, b the offset. A
    negative one takes weight from the own word and puts the top of the bell at the distance
    `sigma * sqrt(-2 offset)`; a positive one changes nothing, as it is the same for all keys.

    Args:
        sigma: Standard deviation in positions, more than 0.
        offset: In units of the scaled logits.
    """

    sigma: float
    offset: float = 0.0
    name: ClassVar[str] = "gaussian"

    def __post_init__(self) -> None:
        check_number(self, "sigma", "offset")
        if self.sigma <= 0:
            raise ConfigError(f"the sigma of a Gaussian must be more than 0, got {self.sigma}")

    def score(self, pairs: Pairs) -> Tensor:
        distance = pairs.query - pairs.key
        # In float64, where there is one, for the same reason as in WordDistance.
        distance = distance if distance.device.type == "mps" else distance.double()
        return -((distance / self.sigma) ** 2 / 2 + self.offset).abs()

    def __str__(self) -> str:
        return f"gaussian {self.sigma:g}" + (f" offset {self.offset:g}" if self.offset else "")
