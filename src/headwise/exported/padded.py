"""PaddedLayout: a layout of padded texts with dynamic sizes, for tracing.

An encoder runs on it as on any layout, so its computation can be exported for any number of texts and
words. Rows of padding are computed too, but no output of a text depends on them.
"""

from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from headwise.attention.padded import memo_of
from headwise.ragged import Layout


class PaddedLayout(Layout):
    """The layout of `[texts * longest]` rows, `longest` for each text.

    While a graph is traced, its sizes are symbolic, so `sizes` is not available.

    Args:
        lengths: Number of rows of each text that are not padding, int64 `[texts]`.
        longest: Rows of each text, padding included; at least the largest length.
    """

    longest: Any
    texts: Any = None  # type: ignore[assignment]
    total: Any

    def __init__(self, lengths: Tensor, longest: Any):
        self.device, self.heads, self._trees = lengths.device, None, None
        self._lengths, self.longest, self.texts = lengths, longest, lengths.shape[0]
        self.total = self.texts * longest
        self.memo = memo_of(lengths, longest)

    @cached_property
    def lengths(self) -> Tensor:  # type: ignore[override]
        return self._lengths

    @cached_property
    def offsets(self) -> Tensor:  # type: ignore[override]
        """First row of each text, and the end, `[texts + 1]`."""
        return torch.arange(self.texts + 1, device=self.device) * self.longest

    @cached_property
    def text_of(self) -> Tensor:  # type: ignore[override]
        texts = torch.arange(self.texts, device=self.device)
        return texts[:, None].expand(-1, self.longest).reshape(-1)

    @cached_property
    def positions(self) -> Tensor:  # type: ignore[override]
        places = torch.arange(self.longest, device=self.device)
        return places[None].expand(self.texts, -1).reshape(-1)

    @cached_property
    def prepended(self) -> "PaddedLayout":  # type: ignore[override]
        return PaddedLayout(self.lengths + 1, self.longest + 1)

    @property
    def without_first(self) -> "PaddedLayout":
        return PaddedLayout(self.lengths - 1, self.longest - 1)

    @cached_property
    def real(self) -> Tensor:
        """Mask of the rows that are not padding, bool `[texts, longest]`."""
        return torch.arange(self.longest, device=self.device)[None] < self.lengths[:, None]

    def put_first(self, values: Tensor, row: Tensor) -> Tensor:
        rows = values.unflatten(0, (self.texts, self.longest))
        return torch.cat([row.expand(self.texts, 1, *row.shape), rows], dim=1).flatten(0, 1)

    def take_first(self, values: Tensor, rest: Layout) -> tuple[Tensor, Tensor]:
        rows = values.unflatten(0, (self.texts, self.longest))
        return rows[:, 0], rows[:, 1:].flatten(0, 1)

    def sums(self, values: Tensor) -> Tensor:
        return self._filled(values, 0.0).sum(1)

    def tops(self, values: Tensor) -> Tensor:
        empty = self.lengths.view(-1, *[1] * (values.dim() - 1)) == 0
        return self._filled(values, float("-inf")).amax(1).masked_fill(empty, 0.0)

    def _filled(self, values: Tensor, fill: float) -> Tensor:
        """Rows, `[total, ...]` -> `[texts, longest, ...]`, with `fill` in the place of padding."""
        rows = values.unflatten(0, (self.texts, self.longest))
        return rows.masked_fill(~self.real.view(*self.real.shape, *[1] * (values.dim() - 1)), fill)
