"""Attention over texts that are padded already, of sizes that a graph leaves open.

It is `headwise.attention.sdpa` with one group of texts, whose sizes are no numbers: what an exported
network computes, for any number of texts and words.
"""

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from headwise.attention.sdpa import Group, Plan


class PaddedGroup(Group):
    """Texts that are padded to the same length.

    Args:
        lengths: Real rows of each text, `[texts]`.
        longest: Rows of each text.
    """

    def __init__(self, lengths: Tensor, longest: Any):
        super().__init__([], lengths, lengths, None, {})
        self._longest = longest

    @property
    def texts(self) -> Any:
        return self.lengths.shape[0]

    @property
    def longest(self) -> Any:
        return self._longest

    def pad(self, packed: Tensor) -> Tensor:
        """`[rows, heads, size]` -> `[texts, heads, longest, size]`."""
        return packed.unflatten(0, (self.texts, self.longest)).transpose(1, 2)

    def unpad(self, padded: Tensor) -> Tensor:
        """`[texts, heads, longest, size]` -> `[rows, heads, size]`."""
        return padded.transpose(1, 2).flatten(0, 1)


class PaddedPlan(Plan):
    """The plan of a padded batch: all texts together, as they stand.

    Args:
        lengths: Real rows of each text, `[texts]`.
        longest: Rows of each text.
    """

    def __init__(self, lengths: Tensor, longest: Any):
        super().__init__([PaddedGroup(lengths, longest)], [], None, None)

    def arrange(self, values: Tensor) -> tuple[Tensor, ...]:
        return (values,)

    def restore(self, outputs: Sequence[Tensor]) -> Tensor:
        return outputs[0]


def memo_of(lengths: Tensor, longest: Any) -> dict[Any, Any]:
    """The memo of a layout whose attention is to be computed by `sdpa` in this way."""
    return {Plan: PaddedPlan(lengths, longest)}
