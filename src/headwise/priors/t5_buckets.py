"""T5Buckets: a learned number for each bucket of distances (T5)."""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from headwise.errors import ConfigError
from headwise.priors.base import LearnedPrior, Pairs, check_whole
from headwise.priors.learned import Buckets


@dataclass(frozen=True)
class T5Buckets(LearnedPrior):
    """Adds a learned number `b_bucket(j - i)`, one table for each head (T5; Raffel et al. 2020; 2.1).

    One half of the buckets is for the keys at and before the query, the other for those after it. Of each
    half the first half holds one distance each, the others grow with the logarithm up to `furthest`, from
    where on all distances share the last.

    The numbers begin with 0, that is with plain attention.

    Args:
        buckets: A multiple of 4.
        furthest: More than `buckets / 4`.
    """

    buckets: int = 32
    furthest: int = 128
    name: ClassVar[str] = "t5-buckets"

    def __post_init__(self) -> None:
        check_whole(self, 4, "buckets")
        check_whole(self, self.buckets // 4 + 1, "furthest")
        if self.buckets % 4:
            raise ConfigError(f"the number of T5 buckets must be a multiple of 4, got {self.buckets}")

    @property
    def bounds(self) -> list[int]:
        """The smallest distance in each bucket of one side, but for the first, which begins with 0."""
        single = self.buckets // 4
        ratio = self.furthest / single
        # 1e-9: or what is whole may come out just above it
        wide = [math.ceil(single * ratio ** (k / single) - 1e-9) for k in range(single)]
        return [*range(1, single), *wide]

    def bucket(self, pairs: Pairs) -> Tensor:
        """The bucket of each pair, int64."""
        offset = pairs.key - pairs.query
        bounds = torch.tensor(self.bounds, device=offset.device)
        return torch.bucketize(offset.abs(), bounds, right=True) + (offset > 0) * (self.buckets // 2)

    def module(self, heads: int, head_size: int, width: int) -> Buckets:
        return Buckets(self.bucket, heads, self.buckets)

    def __str__(self) -> str:
        return f"t5 {self.buckets} buckets to {self.furthest}"
