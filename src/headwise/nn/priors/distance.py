"""Priors of distance: the farther away a position, the lower its score.

The distance is counted in words (`WordDistance`; MS-SAN, Eq. 5-6) or in steps of the dependency tree
(`TreeDistance`). `alibi` makes linear penalties whose slopes differ from head to head (Press et al. 2022);
with `Gaussian` the score falls with the square of the distance.
"""

from __future__ import annotations  # the priors are read without torch

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from headwise.core.errors import ConfigError, HeadwiseError
from headwise.nn.priors.base import Band, Lengths, PositionPairs, Prior, TreeUse, check_number, non_negative
from headwise.nn.priors.direction import Backward, Forward

if TYPE_CHECKING:
    from torch import Tensor


def exact(distance: Tensor) -> Tensor:
    """Distances in float64, where there is one: float32 would round alpha and be off by 1e-8 in float64
    models."""
    return distance if distance.device.type == "mps" else distance.double()


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

    def score(self, pairs: PositionPairs) -> Tensor:
        return -self.alpha * exact((pairs.query - pairs.key).abs())

    def band(self, lengths: Lengths) -> Band:
        reach = non_negative(lengths - 1)
        return Band(reach, reach, self.alpha)

    def __str__(self) -> str:
        return f"word distance {self.alpha:g}"


@dataclass(frozen=True)
class TreeDistance(Prior):
    """Adds `-alpha * d(i, j)`, d the steps from word to word in the dependency tree (MS-SAN, 2020).

    The trees come with the batch (`Layout.trees`). Words at the same distance are not told apart; with a
    tree that is a chain this is `WordDistance`.

    Args:
        alpha: Per step, in units of the scaled logits. The paper's value is not public.
        fallback: What a batch without trees gets: "error", or "word" for the distance in the text.
    """

    alpha: float = 1.0
    fallback: Literal["error", "word"] = "error"
    name: ClassVar[str] = "tree-distance"

    def __post_init__(self) -> None:
        check_number(self, "alpha")
        check_fallback(self.fallback)

    def score(self, pairs: PositionPairs) -> Tensor:
        """`-alpha * d(i, j)`.

        Raises:
            HeadwiseError: HW310, the batch has no trees and there is no fallback.
        """
        return -self.alpha * exact(tree_steps(pairs, self.fallback))

    @property
    def tree_use(self) -> TreeUse:
        return self.fallback

    def __str__(self) -> str:
        return f"tree distance {self.alpha:g}"


def tree_steps(pairs: PositionPairs, fallback: str) -> Tensor:
    """The steps from word to word in the dependency tree, whole numbers.

    Raises:
        HeadwiseError: HW310, the batch has no trees and there is no fallback.
    """
    distance = pairs.tree
    if distance is None and fallback == "word":
        distance = (pairs.query - pairs.key).abs()
    if distance is None:
        raise no_trees_error("goes by the distance in the dependency tree")
    return distance


def no_trees_error(what: str) -> HeadwiseError:
    """The error for a batch without dependency trees, HW310; `what` says what a head does."""
    return HeadwiseError(
        f"a head {what}, but the texts come without parses; read their heads with "
        "headwise.text.parse_files.read_parses (or take them from any parser) and give Layout(lengths, "
        "heads=..., trees=...) the heads and their tree_distances, or go by the words of the text instead "
        "with the fallback 'word' (tree_fallback of an encoder; in a list of priors "
        "tree-distance(1, fallback=word))",
        code="HW310",
    )


def check_fallback(fallback: str) -> None:
    """Check the fallback of a prior that uses dependency trees.

    Raises:
        ConfigError: It is unknown.
    """
    if fallback not in ("error", "word"):
        raise ConfigError(f"the fallback of a tree distance is 'error' or 'word', got {fallback!r}")


SIDES = ("both", "left", "right", "halves")


def alibi_slopes(heads: int) -> list[float]:
    """ALiBi's slope of each head, `2^(-8h/heads)` for h from 1."""
    return [2.0 ** (-8 * head / heads) for head in range(1, heads + 1)]


def alibi(heads: int, sided: Literal["both", "left", "right", "halves"] = "both") -> tuple[Prior, ...]:
    """One prior per head with ALiBi's slopes: head h of H, from 1, adds `-2^(-8h/H) * |i - j|`.

    A head of ALiBi is a head of MS-SAN: word distance, with a direction or without (Press, Smith, Lewis:
    "Train Short, Test Long", ICLR 2022; the paper is causal, its authors name the other forms for
    encoders). Where the number of heads is no power of two, the released code picks its slopes from two
    series; this is the paper's formula for every number.

    Args:
        heads: Number of heads.
        sided: `both` sees both sides with the same slope; `left` sees the position itself and those before
            it (the paper's); `right` itself and those after it; with `halves`, the first half of the heads
            sees the left and the second half, with the same slopes, the right.

    Raises:
        ConfigError: There are no heads, or an odd number of them in halves, or `sided` is unknown.
    """
    if sided not in SIDES:
        raise ConfigError(f"the sides of alibi are {', '.join(SIDES)}; got {sided!r}")
    if heads < 1 or (sided == "halves" and heads % 2):
        raise ConfigError(f"alibi needs at least one head, and for halves an even number, got {heads}")
    if sided == "halves":
        return (*alibi(heads // 2, "left"), *alibi(heads // 2, "right"))
    distances = [WordDistance(slope) for slope in alibi_slopes(heads)]
    if sided == "both":
        return tuple(distances)
    direction = Forward() if sided == "left" else Backward()
    return tuple(direction + distance for distance in distances)


@dataclass(frozen=True)
class Gaussian(Prior):
    """Adds `-|(i - j)^2 / (2 sigma^2) + offset|`: a bell around each position.

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

    def score(self, pairs: PositionPairs) -> Tensor:
        return -((exact(pairs.query - pairs.key) / self.sigma) ** 2 / 2 + self.offset).abs()

    def __str__(self) -> str:
        return f"gaussian {self.sigma:g}" + (f" offset {self.offset:g}" if self.offset else "")
