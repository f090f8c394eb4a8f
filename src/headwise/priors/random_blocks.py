"""RandomBlocks: a head sees the blocks around its own and a few blocks drawn by lot (BigBird)."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from headwise.priors.base import Pairs, Prior, check_whole


@dataclass(frozen=True)
class RandomBlocks(Prior):
    """The text in blocks of `size` positions; a block sees its neighbours and `count` others, by lot.

    BigBird (Zaheer et al. 2020; 2): random and local attention; put `GlobalTokens` around it for the third
    kind. The lots depend on nothing but the seed and the text's length: they are the same in every batch,
    on every machine. Different seeds make heads that see different blocks.

    Args:
        size: Positions in a block.
        count: Blocks drawn for each block, from those that it does not see anyway; all of them where there
            are fewer.
        neighbours: Blocks to each side that are always seen, beside the own one.
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

    def visible(self, pairs: Pairs) -> Tensor:
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
    bits = torch.as_tensor(number, dtype=torch.int64, device="cpu") + -7046029254386353131
    bits = (bits ^ (bits >> 30 & 0x3FFFFFFFF)) * -4658895280553007687
    bits = (bits ^ (bits >> 27 & 0x1FFFFFFFFF)) * -7723592293110705685
    return bits ^ (bits >> 31 & 0x1FFFFFFFF)
