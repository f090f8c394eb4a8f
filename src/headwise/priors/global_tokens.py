"""GlobalTokens: a few nodes that see all and are seen by all."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from headwise.errors import ConfigError
from headwise.priors.base import LearnedPrior, Pairs, Prior, TreeUse, check_whole


@dataclass(frozen=True)
class GlobalTokens(Prior):
    """The first nodes of a text see all and are seen by all; the others go by the prior `inner`.

    Longformer's global attention (Beltagy et al. 2020; 3.1) and BigBird's global tokens (Zaheer et al.
    2020), with the projections of all other nodes. With a classification node in front of every text,
    `count=1` makes it global. What `inner` adds to a score it does not add where a global node looks or is
    looked at; parameters and rotations that it brings hold for all pairs.

    Args:
        inner: What the other nodes go by, in positions that count the global nodes.
        count: How many nodes are global.
    """

    inner: Prior
    count: int = 1
    name: ClassVar[str] = "global-tokens"

    def __post_init__(self) -> None:
        check_whole(self, 1, "count")
        if not isinstance(self.inner, Prior):
            raise ConfigError(f"global tokens stand around another prior, got {self.inner!r}")

    def _global(self, pairs: Pairs) -> Tensor:
        return (pairs.query < self.count) | (pairs.key < self.count)

    def visible(self, pairs: Pairs) -> Tensor:
        return self._global(pairs) | self.inner.visible(pairs)

    def score(self, pairs: Pairs) -> Tensor | None:
        score = self.inner.score(pairs)
        return None if score is None else torch.where(self._global(pairs), 0.0, score)

    @property
    def sees_self(self) -> bool:
        return self.inner.sees_self

    @property
    def tree_use(self) -> TreeUse:
        return self.inner.tree_use

    def rotate(self, rows: Tensor, place: Tensor) -> Tensor:
        return self.inner.rotate(rows, place)

    @property
    def learned(self) -> tuple[LearnedPrior, ...]:
        return self.inner.learned

    def __str__(self) -> str:
        return f"global {self.count} ({self.inner})"
