"""Shaw: a learned vector for each distance, on the keys and on the values (Shaw et al. 2018)."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from headwise.errors import ConfigError
from headwise.priors.base import LearnedPrior, Pairs, Terms, check_whole
from headwise.priors.learned import pick


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

    def module(self, heads: int, head_size: int, width: int) -> "ShawTerms":
        return ShawTerms(self.span, head_size, values=self.values)

    def __str__(self) -> str:
        return f"shaw {self.span}" + ("" if self.values else " keys only")


class ShawTerms(Terms):
    """The tables aK and aV of `Shaw`, from the distance -K (to the left) to K."""

    def __init__(self, span: int, head_size: int, *, values: bool):
        super().__init__()
        self.span = span
        self.keys = nn.Parameter(nn.init.xavier_uniform_(torch.empty(2 * span + 1, head_size)))
        self.values = (
            nn.Parameter(nn.init.xavier_uniform_(torch.empty(2 * span + 1, head_size))) if values else None
        )

    def score(self, query: Tensor, key: Tensor, pairs: Pairs, head: int) -> Tensor:
        products = query @ self.keys.to(query.dtype).T  # [..., n, 2K + 1]: never n x n x size
        return pick(products, self._distance(pairs)) / query.shape[-1] ** 0.5

    def value(self, weights: Tensor, pairs: Pairs, head: int) -> Tensor | None:
        if self.values is None:
            return None
        index = self._distance(pairs).expand_as(weights)
        sums = weights.new_zeros(*weights.shape[:-1], len(self.values)).scatter_add(-1, index, weights)
        return sums @ self.values.to(weights.dtype)

    def _distance(self, pairs: Pairs) -> Tensor:
        return (pairs.key - pairs.query).clamp(-self.span, self.span) + self.span
