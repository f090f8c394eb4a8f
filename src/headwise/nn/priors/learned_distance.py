"""Priors with learned parameters for relative positions.

- `Rotary`: queries and keys are rotated by their positions, so that their product depends on the distance.
- `Shaw`: a learned vector for each distance, on the keys and on the values.
- `T5Buckets`, `TreeBuckets`: a learned number for each bucket of distances, or each distance in the
  dependency tree.
- `TransformerXL`: relative positions as sinusoids that are compared with the content.
- `Sink`: a learned key without a value, which every query sees.
"""

from __future__ import annotations  # the priors are read without torch

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from headwise.core.errors import ConfigError
from headwise.nn.priors.base import LearnedPrior, PositionPairs, Prior, TreeUse, check_number, check_whole
from headwise.nn.priors.distance import check_fallback, tree_steps

if TYPE_CHECKING:
    from torch import Tensor, nn


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
        import torch

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


@dataclass(frozen=True)
class Shaw(LearnedPrior):
    """Relative position representations (Shaw, Uszkoreit, Vaswani; NAACL 2018; Eq. 3-4).

        logit_ij = q_i . (k_j + aK_c) / sqrt(size),  z_i = sum_j w_ij (v_j + aV_c),  c = clip(j - i, -K, K)

    The two tables `[2K + 1, size]` are shared by the heads of a layer that have this prior.

    Args:
        span: K; all positions farther away share the vectors of the farthest.
        values: Whether there is a table for the values.
    """

    span: int = 16
    values: bool = True
    name: ClassVar[str] = "shaw"

    def __post_init__(self) -> None:
        check_whole(self, 0, "span")
        if not isinstance(self.values, bool):
            raise ConfigError(f"values must be true or false, got {self.values!r}")

    def module(self, heads: int, head_size: int, width: int) -> nn.Module:
        from headwise.nn.priors.terms import ShawTerms

        return ShawTerms(self.span, head_size, values=self.values)

    def __str__(self) -> str:
        return f"shaw {self.span}" + ("" if self.values else " keys only")


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

    def bucket(self, pairs: PositionPairs) -> Tensor:
        """The bucket of each pair, int64."""
        import torch

        offset = pairs.key - pairs.query
        bounds = torch.tensor(self.bounds, device=offset.device)
        return torch.bucketize(offset.abs(), bounds, right=True) + (offset > 0) * (self.buckets // 2)

    def module(self, heads: int, head_size: int, width: int) -> nn.Module:
        from headwise.nn.priors.terms import Buckets

        return Buckets(self.bucket, heads, self.buckets)

    def __str__(self) -> str:
        return f"t5 {self.buckets} buckets to {self.furthest}"


@dataclass(frozen=True)
class TreeBuckets(LearnedPrior):
    """Adds a learned number `b_d(i, j)`, one table for each head, d the steps in the dependency tree.

    The learned form of MS-SAN's distance (Eq. 6), as Graphormer has it for shortest paths (Ying et al.
    2021; Eq. 6): nothing says that nearer is better. The numbers begin with 0, that is with plain
    attention.

    Args:
        furthest: From this distance on all share one number.
        fallback: What a batch without trees gets: "error", or "word" for the distance in the text.
    """

    furthest: int = 8
    fallback: Literal["error", "word"] = "error"
    name: ClassVar[str] = "tree-buckets"

    def __post_init__(self) -> None:
        check_whole(self, 1, "furthest")
        check_fallback(self.fallback)

    def bucket(self, pairs: PositionPairs) -> Tensor:
        """The bucket of each pair, int64.

        Raises:
            HeadwiseError: HW310, the batch has no trees and there is no fallback.
        """
        return tree_steps(pairs, self.fallback).long().clamp(max=self.furthest)

    @property
    def tree_use(self) -> TreeUse:
        return self.fallback

    def module(self, heads: int, head_size: int, width: int) -> nn.Module:
        from headwise.nn.priors.terms import Buckets

        return Buckets(self.bucket, heads, self.furthest + 1)

    def __str__(self) -> str:
        return f"tree buckets to {self.furthest}"


@dataclass(frozen=True)
class Sink(LearnedPrior):
    """A key without a value that every query sees, with a learned logit `s_h` for each head (Miller 2023;
    learned logits as in the models gpt-oss, OpenAI 2025):

        w_ij = exp(logit_ij) / (exp(s_h) + sum of exp(logit_il) over the keys l)

    The weights add up to less than 1, so that a head can stay silent. `s_h` begins with 0, Miller's softmax
    with one more.
    """

    name: ClassVar[str] = "sink"

    def module(self, heads: int, head_size: int, width: int) -> nn.Module:
        from headwise.nn.priors.terms import SinkTerms

        return SinkTerms(heads)

    def __str__(self) -> str:
        return "sink"


@dataclass(frozen=True)
class TransformerXL(LearnedPrior):
    """Relative positions of Transformer-XL (Dai, Yang, Yang, Carbonell, Le, Salakhutdinov; ACL 2019; 3.3).

        logit_ij = ((q_i + u) . k_j + (q_i + v) . W_R R_{i-j}) / sqrt(size)

    R is sinusoidal, u, v and W_R belong to each head. The released code's shift of the scores is right
    only for keys at or before the query; here every distance in both directions has its own row of R, so
    that it serves encoders.
    """

    name: ClassVar[str] = "transformer-xl"

    def module(self, heads: int, head_size: int, width: int) -> nn.Module:
        from headwise.nn.priors.terms import TransformerXLTerms

        return TransformerXLTerms(heads, head_size, width)

    def __str__(self) -> str:
        return "transformer-xl"
