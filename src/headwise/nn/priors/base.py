"""Prior: which positions attend to which, how scores change, and how priors add up on one head.

A prior is data: a small frozen dataclass. Its meaning is given by two pure functions of indices,
`visible` and `score`; attention adds `score` to the scaled logits where `visible` holds and leaves the
other pairs out. Adding priors, `Forward() + WordDistance(0.5)`, keeps the pairs that every one of them
allows and adds their scores.
"""

from __future__ import annotations  # the priors are read without torch

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from headwise.core.errors import ConfigError
from headwise.runtime.banded_plan import Band

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn


TreeUse = Literal["none", "error", "word"]
Lengths = TypeVar("Lengths", "Tensor", NDArray[np.int64])


@dataclass(frozen=True)
class PositionPairs:
    """The (query, key) pairs that a prior is asked about; all fields broadcast together.

    Attributes:
        query: Position of the query in its text, from 0.
        key: Position of the key in the same text.
        length: Number of nodes of that text (a classification node counts).
        tree: Distance of the two in the text's dependency tree; None where the batch brings no trees.
        marks: By name, a number of each node of the text, at the query and at the key: its `sentence`, its
            `paragraph`, -1 for a node that belongs to all; empty where the batch brings none.
        matrices: By name, a number of the users' for each pair; empty where the batch brings none.
    """

    query: Tensor
    key: Tensor
    length: Tensor
    tree: Tensor | None = None
    marks: Mapping[str, tuple[Tensor, Tensor]] = field(default_factory=dict)
    matrices: Mapping[str, Tensor] = field(default_factory=dict)

    @classmethod
    def of_length(
        cls,
        length: int,
        device: torch.device | str = "cpu",
        tree: Tensor | None = None,
        marks: Mapping[str, Tensor] | None = None,
        matrices: Mapping[str, Tensor] | None = None,
    ) -> PositionPairs:
        """All pairs of one text: query `[n, 1]`, key `[1, n]`, length `[1, 1]`; `marks` are `[n]`."""
        import torch

        place = torch.arange(length, device=device)
        size = torch.tensor([[length]], device=device)
        both = {name: (mark[:, None], mark[None, :]) for name, mark in (marks or {}).items()}
        return cls(place[:, None], place[None, :], size, tree, both, matrices or {})


class Prior:
    """Base of all priors. A prior overrides `visible`, `score`, or both, and `band` where it is one."""

    name: ClassVar[str]

    def visible(self, pairs: PositionPairs) -> Tensor:
        """Boolean, broadcasts to the pairs: may this query attend to this key?"""
        import torch

        return torch.ones_like(pairs.key, dtype=torch.bool)

    def score(self, pairs: PositionPairs) -> Tensor | None:
        """A finite addend to the scaled logits of the visible pairs; None for 0."""
        return None

    def band(self, lengths: Lengths) -> Band | None:
        """This prior as a band over texts of the given `lengths` `[texts]`; None if it is not one.

        Lengths are a tensor, or an array where prediction does without torch; the band is of their kind.
        """
        return None

    @property
    def sees_self(self) -> bool:
        """True where every position sees itself (so that no row of attention is ever empty).

        A prior with a `visible` of its own has to say so: by default the rows of its heads are searched
        for empty ones, which is always right but takes time.
        """
        return type(self).visible is Prior.visible

    @property
    def is_identity(self) -> bool:
        """True where every position sees itself alone, whatever the text: such a head's output is its
        value, and it needs neither queries nor keys."""
        return False

    @property
    def tree_use(self) -> TreeUse:
        """How the prior treats a text without a dependency tree: "error", or "word" for distances in words
        instead; "none" if it does not use trees."""
        return "none"

    @property
    def marks(self) -> frozenset[str]:
        """The names of the marks that the prior compares (see `PositionPairs.marks`)."""
        return frozenset()

    @property
    def matrices(self) -> frozenset[Prior]:
        """The different priors with matrices (`headwise.nn.priors.text_matrix`) that this one consists
        of."""
        return frozenset()

    def rotate(self, rows: Tensor, place: Tensor) -> Tensor:
        """Queries or keys `[..., n, size]` at the positions `place` `[n]` as they enter their product."""
        return rows

    @property
    def learned(self) -> tuple[LearnedPrior, ...]:
        """The different priors with parameters that this one consists of."""
        return ()

    def bias(self, pairs: PositionPairs, dtype: torch.dtype | None = None) -> Tensor:
        """The dense additive form: `score` where visible, -inf elsewhere; in float32 by default."""
        import torch

        dtype = dtype or torch.float32
        visible, score = self.visible(pairs), self.score(pairs)
        if score is None:
            score = torch.zeros((), dtype=dtype, device=visible.device)
        return torch.where(visible, score.to(dtype), float("-inf"))

    def __add__(self, term: Prior) -> Prior:
        if not isinstance(term, Prior):
            return NotImplemented
        return Sum((*_summands(self), *_summands(term)))

    def to_json(self) -> dict[str, object]:
        """Plain data that `headwise.nn.priors.from_json` turns back into an equal prior."""
        values = {entry: getattr(self, entry.name) for entry in fields(self)}  # type: ignore[arg-type]
        data: dict[str, object] = {"prior": self.name}
        return data | {
            entry.name: value.to_json() if isinstance(value, Prior) else value
            for entry, value in values.items()
            if value is not None or entry.default is not None
        }


class LearnedPrior(Prior):
    """Base of all priors with parameters. Who sees whom is left to the priors beside it on the head."""

    def module(self, heads: int, head_size: int, width: int) -> nn.Module:
        """The parameters, a `headwise.nn.priors.terms.Terms`.

        Args:
            heads: How many heads have this prior.
            head_size: Features of a query, key or value.
            width: Features of the rows that the layer works on.
        """
        raise NotImplementedError

    @property
    def learned(self) -> tuple[LearnedPrior, ...]:
        return (self,)


@dataclass(frozen=True)
class Sum(Prior):
    """Several priors on one head: pairs that all of them allow, with their scores added."""

    parts: tuple[Prior, ...]
    name: ClassVar[str] = "sum"

    def __post_init__(self) -> None:
        if not self.parts:
            raise ConfigError("a sum of priors needs at least one prior")
        if not all(isinstance(part, Prior) for part in self.parts):
            raise ConfigError(f"a sum consists of priors, got {self.parts!r}")

    def visible(self, pairs: PositionPairs) -> Tensor:
        visible = self.parts[0].visible(pairs)
        for part in self.parts[1:]:
            visible = visible & part.visible(pairs)
        return visible

    def score(self, pairs: PositionPairs) -> Tensor | None:
        scores = [score for part in self.parts if (score := part.score(pairs)) is not None]
        if not scores:
            return None
        total = scores[0]
        for score in scores[1:]:
            total = total + score
        return total

    def band(self, lengths: Lengths) -> Band | None:
        bands = [part.band(lengths) for part in self.parts]
        if any(band is None for band in bands):
            return None
        present = [band for band in bands if band is not None]
        left, right = present[0].left, present[0].right
        for band in present[1:]:
            left = smaller_reach(cast("Tensor", left), cast("Tensor", band.left))
            right = smaller_reach(cast("Tensor", right), cast("Tensor", band.right))
        return Band(left, right, sum(band.slope for band in present))

    @property
    def sees_self(self) -> bool:
        return all(part.sees_self for part in self.parts)

    @property
    def is_identity(self) -> bool:
        # What is learned may add to the value.
        return self.sees_self and not self.learned and any(part.is_identity for part in self.parts)

    @property
    def tree_use(self) -> TreeUse:
        return strictest_tree_use(part.tree_use for part in self.parts)

    @property
    def marks(self) -> frozenset[str]:
        return frozenset().union(*(part.marks for part in self.parts))

    @property
    def matrices(self) -> frozenset[Prior]:
        return frozenset().union(*(part.matrices for part in self.parts))

    def rotate(self, rows: Tensor, place: Tensor) -> Tensor:
        for part in self.parts:
            rows = part.rotate(rows, place)
        return rows

    @property
    def learned(self) -> tuple[LearnedPrior, ...]:
        return tuple(dict.fromkeys(learned for part in self.parts for learned in part.learned))

    def to_json(self) -> dict[str, object]:
        return {"prior": self.name, "parts": [part.to_json() for part in self.parts]}

    def __str__(self) -> str:
        return " + ".join(map(str, self.parts))


def non_negative(numbers: Lengths) -> Lengths:
    """The numbers, with 0 in place of negative ones, `[texts]`."""
    if isinstance(numbers, np.ndarray):
        larger: Any = np.maximum(numbers, 0)  # a tenth of the time of `clip`
        return larger
    return numbers.clip(min=0)


def smaller_reach(first: Lengths, second: Lengths) -> Lengths:
    """The smaller number of two, text by text, `[texts]`."""
    difference: Any = first - second
    return first - non_negative(difference)


def strictest_tree_use(uses: Iterable[TreeUse]) -> TreeUse:
    """The strictest treatment of texts without a tree among several priors (see `Prior.tree_use`)."""
    distinct = set(uses)
    return "error" if "error" in distinct else "word" if "word" in distinct else "none"


def plain_number(prior: Prior, name: str, kind: type = Real) -> bool:
    """Whether a value of a prior is a number. One of NumPy's becomes Python's, as which it is stored."""
    value = getattr(prior, name)
    if not isinstance(value, kind) or isinstance(value, bool):
        return False
    object.__setattr__(prior, name, int(value) if isinstance(value, Integral) else float(value))
    return True


def check_whole(prior: Prior, low: int, *names: str) -> None:
    """Check that values of a prior are whole numbers.

    Raises:
        ConfigError: One is not, or is less than `low`.
    """
    for name in names:
        if not plain_number(prior, name, Integral) or getattr(prior, name) < low:
            actual = getattr(prior, name)
            raise ConfigError(f"{name} must be a whole number, at least {low}, got {actual!r}")


def check_odd_width(prior: Any, of: str) -> None:
    """Check that the `width` of a prior, of `of` in the message, is an odd whole number.

    Raises:
        ConfigError: It is not, or is less than 1.
    """
    actual = prior.width
    if not plain_number(prior, "width", Integral) or actual < 1 or actual % 2 == 0:
        raise ConfigError(f"the width of {of} must be an odd whole number, at least 1, got {actual!r}")


_LARGEST = 1e30


def check_number(prior: Prior, *names: str) -> None:
    """Check that values of a prior are numbers, not so large that their products with distances are none.

    Raises:
        ConfigError: One is not.
    """
    for name in names:
        if not plain_number(prior, name) or not abs(getattr(prior, name)) <= _LARGEST:
            actual = getattr(prior, name)
            raise ConfigError(f"{name} must be a finite number, at most {_LARGEST:g}, got {actual!r:.80}")


def _summands(prior: Prior) -> Sequence[Prior]:
    return prior.parts if isinstance(prior, Sum) else (prior,)
