"""Attention over padded texts with symbolic sizes.

It is `headwise.nn.attention.sdpa` with one group of texts of symbolic sizes: what an exported network
computes, for any number of texts and words.
"""

from collections.abc import Hashable, Mapping, Sequence

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from headwise.nn.attention.sdpa import Group, Plan


class PaddedGroup(Group):
    """Texts that are padded to the same length.

    Args:
        lengths: Real rows of each text, `[texts]`.
        longest: Rows of each text.
        marks: By name, the marks of the rows, `[texts, longest]` (see `headwise.nn.layout.Layout`).
    """

    def __init__(self, lengths: Tensor, longest: int, marks: Mapping[str, Tensor]):
        super().__init__(
            [], lengths, lengths, None, {name: (rows,) for name, rows in marks.items()}, {}, {}
        )
        self._longest = longest

    @property
    def texts(self) -> int:
        return self.lengths.shape[0]

    @property
    def longest(self) -> int:
        return self._longest

    def pad(self, packed: Tensor) -> Tensor:
        """`[rows, heads, size]` -> `[texts, heads, longest, size]`."""
        return packed.unflatten(0, (self.texts, self.longest)).transpose(1, 2)

    def _padded(self, numbers: tuple[Tensor, ...]) -> Tensor:
        (rows,) = numbers
        return rows

    def unpad(self, padded: Tensor) -> Tensor:
        """`[texts, heads, longest, size]` -> `[rows, heads, size]`."""
        return padded.transpose(1, 2).flatten(0, 1)


class PaddedPlan(Plan):
    """The plan of a padded batch: one group of all texts, in their order.

    Args:
        lengths: Real rows of each text, `[texts]`.
        longest: Rows of each text.
        marks: See `PaddedGroup`.
    """

    def __init__(self, lengths: Tensor, longest: int, marks: Mapping[str, Tensor]):
        super().__init__([PaddedGroup(lengths, longest, marks)], [], None, None)

    def arrange(self, values: Tensor) -> tuple[Tensor, ...]:
        return (values,)

    def restore(self, outputs: Sequence[Tensor]) -> Tensor:
        return outputs[0]


def memo_of(lengths: Tensor, longest: int, marks: Mapping[str, Tensor]) -> dict[Hashable, object]:
    """The memo of a layout whose attention is to be computed by `sdpa` in this way."""
    return {Plan: PaddedPlan(lengths, longest, marks)}


def padded_cross_attention(
    query: Tensor, key: Tensor, value: Tensor, lengths: Tensor, longest: int, scale: float | None = None
) -> Tensor:
    """`headwise.nn.attention.cross.cross_attention` of padded texts.

    Args:
        query: `[texts, queries, heads, size]`.
        key: `[texts, keys, heads, size]`.
        value: `[texts, keys, heads, value size]`.
        lengths: How many keys of each text are real, `[texts]`; where none is, its queries get 0.
        longest: Keys of each text; where a graph is traced, what leaves their number open.
        scale: What products are multiplied by; by default 1 / sqrt(size).

    Returns:
        `[texts, queries, heads, value size]`.
    """
    place = torch.arange(longest, device=key.device)
    empty = (lengths == 0)[:, None, None, None]
    seen = (place < lengths[:, None])[:, None, None] | empty
    q, k, v = (heads_last.transpose(1, 2) for heads_last in (query, key, value))
    bias = torch.where(seen, torch.zeros((), dtype=query.dtype), float("-inf"))
    attended = scaled_dot_product_attention(q, k, v, bias, scale=scale)
    return attended.masked_fill(empty, 0.0).transpose(1, 2)
