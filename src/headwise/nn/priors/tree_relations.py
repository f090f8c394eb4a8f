"""Priors of relations in the dependency tree: parent, child and sibling.

With `Parent`, `Child` and `Sibling` a head sees only the words in this relation. `TreeRelations` adds a
learned number for each of these relations.
"""

from __future__ import annotations  # the priors are read without torch

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from headwise.nn.priors.base import LearnedPrior, PositionPairs, Prior, TreeUse
from headwise.nn.priors.distance import check_fallback, no_trees_error

if TYPE_CHECKING:
    from torch import Tensor, nn

ROOT, NO_WORD = -1, -2
"""The parent of a root, and of a row that is no word (a classification node)."""


@dataclass(frozen=True)
class _GoesByParents:
    """Base of the priors that use the parents of words."""

    fallback: Literal["error", "word"] = "error"

    def __post_init__(self) -> None:
        check_fallback(self.fallback)

    @property
    def tree_use(self) -> TreeUse:
        return self.fallback

    @property
    def marks(self) -> frozenset[str]:
        return frozenset({"parent"})


@dataclass(frozen=True)
class _TreeRelation(_GoesByParents, Prior):
    """Words in one relation see each other, and each word sees itself. A classification node sees all and
    is seen by all."""

    def visible(self, pairs: PositionPairs) -> Tensor:
        """Whether each query and key stand in the relation.

        Raises:
            HeadwiseError: HW310, the batch has no trees and there is no fallback.
        """
        query, key = parents(pairs, self.fallback)
        related = self._related(pairs, query, key)
        return related | (pairs.query == pairs.key) | (query == NO_WORD) | (key == NO_WORD)

    def _related(self, pairs: PositionPairs, query: Tensor, key: Tensor) -> Tensor:
        """Whether key and query stand in the relation; their parents are `query` and `key`."""
        raise NotImplementedError

    @property
    def sees_self(self) -> bool:
        return True

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Parent(_TreeRelation):
    """Each word sees the word that it depends on, and itself (a hard form of the head of LISA that looks at
    the parent; Strubell et al. 2018; 2.3).

    Args:
        fallback: What a batch without trees gets: "error", or "word": the word before is the parent.
    """

    name: ClassVar[str] = "parent"

    def _related(self, pairs: PositionPairs, query: Tensor, key: Tensor) -> Tensor:
        return pairs.key == query


@dataclass(frozen=True)
class Child(_TreeRelation):
    """Each word sees the words that depend on it, and itself; `Parent` transposed.

    Args:
        fallback: See `Parent`.
    """

    name: ClassVar[str] = "child"

    def _related(self, pairs: PositionPairs, query: Tensor, key: Tensor) -> Tensor:
        return pairs.query == key


@dataclass(frozen=True)
class Sibling(_TreeRelation):
    """Each word sees the words with the same parent, itself among them. The roots are siblings, as they
    are in the distances of `TreeDistance`.

    Args:
        fallback: See `Parent`.
    """

    name: ClassVar[str] = "sibling"

    def _related(self, pairs: PositionPairs, query: Tensor, key: Tensor) -> Tensor:
        return query == key


@dataclass(frozen=True)
class TreeRelations(_GoesByParents, LearnedPrior):
    """Adds a learned number `b_r(i, j)`, one table for each head, r the relation of two words in the tree.

    The relation of key and query is one of: other, itself, parent, child, sibling, or a pair with the
    classification node.

    The typed form of `TreeBuckets`, which does not tell parents from children (relation-aware attention,
    Shaw et al. 2018, 3.1, with numbers in place of vectors). The numbers begin with 0, that is with plain
    attention.

    Args:
        fallback: See `Parent`.
    """

    name: ClassVar[str] = "tree-relations"

    NAMES: ClassVar[tuple[str, ...]] = ("other", "itself", "parent", "child", "sibling", "node")

    def bucket(self, pairs: PositionPairs) -> Tensor:
        """The relation of each pair, its number in `NAMES`, int64.

        Raises:
            HeadwiseError: HW310, the batch has no trees and there is no fallback.
        """
        import torch

        query, key = parents(pairs, self.fallback)
        tests = {
            "sibling": query == key,
            "child": pairs.query == key,
            "parent": pairs.key == query,
            "itself": pairs.query == pairs.key,
            "node": (query == NO_WORD) | (key == NO_WORD),
        }
        relation = torch.zeros_like(pairs.query - pairs.key)
        for name, holds in tests.items():  # the last one that holds counts
            relation = torch.where(holds, self.NAMES.index(name), relation)
        return relation

    def module(self, heads: int, head_size: int, width: int) -> nn.Module:
        from headwise.nn.priors.terms import NamedBuckets

        return NamedBuckets(self.bucket, heads, self.NAMES)

    def __str__(self) -> str:
        return "tree relations"


def parents(pairs: PositionPairs, fallback: str) -> tuple[Tensor, Tensor]:
    """The position of the parent of the query and of the key, `ROOT` or `NO_WORD`.

    Raises:
        HeadwiseError: HW310, the batch has no trees and there is no fallback.
    """
    if "parent" in pairs.marks:
        return pairs.marks["parent"]
    if fallback == "word":
        return pairs.query - 1, pairs.key - 1
    raise no_trees_error("goes by relations in the dependency tree")
