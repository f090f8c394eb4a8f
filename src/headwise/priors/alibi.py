"""alibi: linear penalties on distance whose slopes differ from head to head (ALiBi, Press et al. 2022)."""

from typing import Literal

from headwise.errors import ConfigError
from headwise.priors.base import Prior
from headwise.priors.direction import Backward, Forward
from headwise.priors.word_distance import WordDistance

SIDES = ("both", "left", "right", "halves")


def alibi(heads: int, sided: Literal["both", "left", "right", "halves"] = "both") -> tuple[Prior, ...]:
    """One prior per head with ALiBi's slopes: head h of H, from 1, adds `-2^(-8h/H) * |i - j|`.

    A head of ALiBi is a head of MS-SAN: word distance, with a direction or without (Press, Smith, Lewis:
    "Train Short, Test Long", ICLR 2022; the paper is causal, its authors name the other forms for
    encoders). Where the number of heads is no power of two, the released code picks its slopes from two
    series; this is the paper's formula for every number.

    Args:
        heads: Number of heads.
        sided: `both` looks to both sides alike; `left` at the words up to the own one (the paper's);
            `right` from the own one on; `halves` gives the first half of the heads to the left and the
            second, with the same slopes, to the right.

    Raises:
        ConfigError: There are no heads, or an odd number of them in halves, or `sided` is unknown.
    """
    if sided not in SIDES:
        raise ConfigError(f"the sides of alibi are {', '.join(SIDES)}; got {sided!r}")
    if heads < 1 or (sided == "halves" and heads % 2):
        raise ConfigError(f"alibi needs at least one head, and for halves an even number, got {heads}")
    if sided == "halves":
        return (*alibi(heads // 2, "left"), *alibi(heads // 2, "right"))
    distances = [WordDistance(2.0 ** (-8 * head / heads)) for head in range(1, heads + 1)]
    if sided == "both":
        return tuple(distances)
    direction = Forward() if sided == "left" else Backward()
    return tuple(direction + distance for distance in distances)
