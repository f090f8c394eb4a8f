"""Sparse priors: each position sees a few positions far away.

`Dilated` is a window with gaps, and `RandomBlocks` adds a few random blocks to the neighbouring ones
(BigBird). With `GlobalTokens`, a few nodes see all positions and are seen by all.
"""

from __future__ import annotations  # the priors are read without torch

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from headwise.core.errors import ConfigError
from headwise.nn.priors.base import LearnedPrior, PositionPairs, Prior, TreeUse, check_whole

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Dilated(Prior):
    """Each position sees every `step`-th position to both sides (Longformer, Beltagy et al. 2020; 3.1).

    With a window on the same head, `Dilated(2) + Window(fraction=1/4)`, the width may follow the text's
    length.

    Args:
        step: Positions from one that is seen to the next, at least 1.
        width: Full width in positions, odd, gaps included; None for the whole text.
    """

    step: int
    width: int | None = None
    name: ClassVar[str] = "dilated"

    def __post_init__(self) -> None:
        check_whole(self, 1, "step")
        if self.width is not None:
            check_whole(self, 1, "width")
            if self.width % 2 == 0:
                raise ConfigError(f"the width of a dilated window must be odd, got {self.width}")

    def visible(self, pairs: PositionPairs) -> Tensor:
        distance = (pairs.query - pairs.key).abs()
        seen = distance % self.step == 0
        return seen if self.width is None else seen & (distance <= (self.width - 1) // 2)

    @property
    def sees_self(self) -> bool:
        return True

    @property
    def is_identity(self) -> bool:
        return self.width is not None and (self.width - 1) // 2 < self.step

    def __str__(self) -> str:
        return f"dilated {self.step}" + (f" width {self.width}" if self.width is not None else "")


@dataclass(frozen=True)
class GlobalTokens(Prior):
    """The first nodes of a text see all and are seen by all; for the others the prior `inner` holds.

    Longformer's global attention (Beltagy et al. 2020; 3.1) and BigBird's global tokens (Zaheer et al.
    2020), with the projections of all other nodes. With a classification node in front of every text,
    `count=1` makes it global. What `inner` adds to a score it does not add where a global node looks or is
    looked at; parameters and rotations that it brings hold for all pairs.

    Args:
        inner: The prior of the other nodes; its positions count the global nodes.
        count: Number of global nodes.
    """

    inner: Prior
    count: int = 1
    name: ClassVar[str] = "global-tokens"

    def __post_init__(self) -> None:
        check_whole(self, 1, "count")
        if not isinstance(self.inner, Prior):
            raise ConfigError(f"global tokens stand around another prior, got {self.inner!r}")

    def _global(self, pairs: PositionPairs) -> Tensor:
        return (pairs.query < self.count) | (pairs.key < self.count)

    def visible(self, pairs: PositionPairs) -> Tensor:
        return self._global(pairs) | self.inner.visible(pairs)

    def score(self, pairs: PositionPairs) -> Tensor | None:
        import torch

        score = self.inner.score(pairs)
        return None if score is None else torch.where(self._global(pairs), 0.0, score)

    @property
    def sees_self(self) -> bool:
        return self.inner.sees_self

    @property
    def tree_use(self) -> TreeUse:
        return self.inner.tree_use

    @property
    def marks(self) -> frozenset[str]:
        return self.inner.marks

    @property
    def matrices(self) -> frozenset[Prior]:
        return self.inner.matrices

    def rotate(self, rows: Tensor, place: Tensor) -> Tensor:
        return self.inner.rotate(rows, place)

    @property
    def learned(self) -> tuple[LearnedPrior, ...]:
        return self.inner.learned

    def __str__(self) -> str:
        return f"global {self.count} ({self.inner})"


@dataclass(frozen=True)
class RandomBlocks(Prior):
    """The text in blocks of `size` positions; a block sees its neighbours and `count` random others.

    Random and local attention of BigBird (Zaheer et al. 2020; 2); `GlobalTokens` around it adds the global
    attention. The random blocks depend on the seed and the text's length only: they are the same in every
    batch, on every machine. Heads with different seeds see different blocks.

    Args:
        size: Positions in a block.
        count: Blocks drawn for each block, from those that it does not see anyway; all of them where there
            are fewer.
        neighbours: Number of neighbouring blocks to each side that a block sees.
        seed: Seed of the random draws.
    """

    size: int = 8
    count: int = 1
    neighbours: int = 1
    seed: int = 0
    name: ClassVar[str] = "random-blocks"

    def __post_init__(self) -> None:
        check_whole(self, 1, "size")
        check_whole(self, 0, "count", "neighbours", "seed")

    def visible(self, pairs: PositionPairs) -> Tensor:
        import torch

        query, key, length = torch.broadcast_tensors(
            pairs.query // self.size, pairs.key // self.size, pairs.length
        )
        visible = torch.zeros_like(length, dtype=torch.bool)
        for n in pairs.length.unique().tolist():
            if n:
                table = self._table(-(-n // self.size), n).to(visible.device)
                last = len(table) - 1  # pairs beyond the end of a text are asked about, in padding
                seen = table[query.clamp(max=last), key.clamp(max=last)]
                visible = torch.where(length == n, seen, visible)
        return visible

    def _table(self, blocks: int, length: int) -> Tensor:
        """`[blocks, blocks]`: which block sees which."""
        import torch

        block = torch.arange(blocks, device="cpu")
        is_neighbour = (block[:, None] - block).abs() <= self.neighbours
        lots = _hash(_hash(_hash(_hash(self.seed % 2**62) + length) + block[:, None]) + block)
        lots = lots.masked_fill(is_neighbour, torch.iinfo(torch.int64).min)
        rank = lots.argsort(dim=1, stable=True).argsort(dim=1)
        return rank < is_neighbour.sum(1, keepdim=True) + self.count

    @property
    def sees_self(self) -> bool:
        return True

    def __str__(self) -> str:
        return f"random blocks {self.size}x{self.count}" + (f" seed {self.seed}" if self.seed else "")


def _hash(number: Tensor | int) -> Tensor:
    """Well mixed 64 bits of a whole number (the finalizer of splitmix64), the same on every machine."""
    import torch

    bits = torch.as_tensor(number, dtype=torch.int64, device="cpu") + -7046029254386353131
    bits = (bits ^ (bits >> 30 & 0x3FFFFFFFF)) * -4658895280553007687
    bits = (bits ^ (bits >> 27 & 0x1FFFFFFFFF)) * -7723592293110705685
    return bits ^ (bits >> 31 & 0x1FFFFFFFF)
