"""TreeBuckets: a learned number for each distance in the dependency tree."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from torch import Tensor

from headwise.priors.base import LearnedPrior, Pairs, TreeUse, check_whole
from headwise.priors.learned import Buckets
from headwise.priors.tree_distance import check_fallback, tree_steps


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

    def bucket(self, pairs: Pairs) -> Tensor:
        """The bucket of each pair, int64.

        Raises:
            HeadwiseError: HW310, the batch has no trees and there is no fallback.
        """
        return tree_steps(pairs, self.fallback).long().clamp(max=self.furthest)

    @property
    def tree_use(self) -> TreeUse:
        return self.fallback

    def module(self, heads: int, head_size: int, width: int) -> Buckets:
        return Buckets(self.bucket, heads, self.furthest + 1)

    def __str__(self) -> str:
        return f"tree buckets to {self.furthest}"
