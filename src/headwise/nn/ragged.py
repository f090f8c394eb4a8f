"""Ragged: a batch of sequences of different lengths, stored without padding.

`values` holds the rows of all texts one after the other, `[total, ...]`; a `Layout` says where each text
begins and ends. Linear layers run directly on `values`; operations that must not mix texts (pooling,
softmax, attention) use the layout. The result for a text never depends on the other texts of its batch,
since there is no padding that could leak.
"""

from collections.abc import Callable, Iterator, Sequence
from operator import index
from typing import Any, SupportsIndex, cast, overload

import torch
from torch import Tensor, nn

from headwise.nn.layout import Layout


class Ragged:
    """A batch of texts of different lengths: the rows of all texts, one text after the other.

    Args:
        values: `[total, ...]`.
        layout: Where each text begins and ends; its total must be the number of rows.

    Raises:
        TypeError: `values` is no tensor, or `layout` is no Layout.
        ValueError: The number of rows and the layout disagree, or they are on different devices.
    """

    def __init__(self, values: Tensor, layout: Layout):
        if not isinstance(values, Tensor) or not isinstance(layout, Layout):
            got = f"{_describe_value(values)} and {_describe_value(layout)}"
            raise TypeError(
                f"a Ragged has a tensor and a Layout, got {got}; "
                "torch.as_tensor makes a tensor, Layout(lengths) a layout"
            )
        if values.dim() == 0 or values.shape[0] != layout.total:
            raise ValueError(
                f"values have shape {tuple(values.shape)}, but the lengths add up to {layout.total} rows"
            )
        if values.device.type != layout.device.type:
            raise ValueError(
                f"values are on {values.device}, but the layout is on {layout.device}; Layout(lengths, "
                "values.device) and Ragged.from_lengths(values, lengths) make one beside them"
            )
        self.values = values
        self.layout = layout

    @classmethod
    def from_lengths(cls, values: Tensor, lengths: Sequence[int]) -> "Ragged":
        """A batch from packed rows `[total, ...]` and the number of rows of each text."""
        return cls(values, Layout(lengths, getattr(values, "device", "cpu")))

    @classmethod
    def from_list(cls, texts: Sequence[Tensor]) -> "Ragged":
        """A batch from one tensor `[length, ...]` per text, of one or more texts."""
        if not texts:
            raise ValueError("from_list needs at least one text; use from_lengths for an empty batch")
        return cls.from_lengths(torch.cat(list(texts)), [len(text) for text in texts])

    @classmethod
    def from_padded(cls, padded: Tensor, mask: Tensor) -> "Ragged":
        """A batch from `padded` `[texts, longest, ...]` and a boolean `mask` `[texts, longest]`, True
        = keep.

        The kept rows of a text may stand anywhere (padding left, right or between); their order is kept.

        Raises:
            ValueError: The shapes disagree, or the mask is not boolean (1/0 masks must be converted, so
                that a mask of the opposite polarity, True = ignore, is never taken by accident).
        """
        if mask.dtype != torch.bool:
            raise ValueError(f"the mask must be boolean with True = keep, got {mask.dtype}")
        if mask.dim() != 2 or padded.shape[:2] != mask.shape:
            raise ValueError(
                f"padded {tuple(padded.shape)} and mask {tuple(mask.shape)} must agree in "
                "their first two sizes [texts, longest]"
            )
        return cls.from_lengths(padded[mask], mask.sum(1).tolist())

    def to_padded(self, fill: float = 0.0) -> tuple[Tensor, Tensor]:
        """`(padded [texts, longest, ...], mask [texts, longest])`, padded on the right with `fill`."""
        layout, tail = self.layout, self.values.shape[1:]
        rows = layout.text_of * layout.longest + layout.positions
        padded = self.values.new_full((layout.texts * layout.longest, *tail), fill)
        padded = padded.index_copy(0, rows, self.values)
        place = torch.arange(layout.longest, device=self.device)
        mask = place < layout.lengths[:, None]
        return padded.view(layout.texts, layout.longest, *tail), mask

    @property
    def device(self) -> torch.device:
        return self.values.device

    @property
    def lengths(self) -> Tensor:
        """Number of rows of each text, int64 `[texts]`."""
        return self.layout.lengths

    @property
    def offsets(self) -> Tensor:
        """Row offsets, int64 `[texts + 1]`."""
        return self.layout.offsets

    def __len__(self) -> int:
        """Number of texts."""
        return self.layout.texts

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self.values.split(self.layout.sizes))

    @overload
    def __getitem__(self, selection: SupportsIndex) -> Tensor: ...
    @overload
    def __getitem__(self, selection: slice | Sequence[int] | Tensor) -> "Ragged": ...
    def __getitem__(self, selection: SupportsIndex | slice | Sequence[int] | Tensor) -> "Tensor | Ragged":
        """One text `[length, ...]`, or a Ragged of the selected texts in the given order.

        Several texts are selected by a slice, by a list, array or tensor of indices (negative ones count
        from the end), or by a list, array or tensor of `texts` booleans, True = keep.

        Raises:
            IndexError: An index is out of range, or there is not one boolean for each text.
        """
        if getattr(selection, "ndim", 0):
            selection = cast(Tensor, selection).tolist()
        if isinstance(selection, slice):
            picked = list(range(len(self))[selection])
        elif isinstance(selection, Sequence):
            picked = self._picked(selection)
        else:
            text = self._picked([index(selection)])[0]
            start = sum(self.layout.sizes[:text])
            return self.values[start : start + self.layout.sizes[text]]
        pieces = self.values.split(self.layout.sizes)
        values = torch.cat([pieces[t] for t in picked]) if picked else self.values[:0]
        return Ragged(values, self.layout.select(picked))

    def _picked(self, selection: Sequence[int]) -> list[int]:
        """Indices from 0 of the selected texts, from indices or from one boolean for each text."""
        texts = len(self)
        # NumPy booleans become bool.
        selection = [getattr(t, "item", lambda t=t: t)() for t in selection]
        if any(isinstance(t, bool) for t in selection):
            if len(selection) != texts:
                raise IndexError(f"{len(selection)} booleans for {texts} texts")
            return [t for t, keep in enumerate(selection) if keep]
        for t in selection:
            if not -texts <= t < texts:
                raise IndexError(f"text {t} of {texts}")
        return [t % texts for t in selection]

    def with_values(self, values: Tensor) -> "Ragged":
        """The same layout with other rows `[total, ...]`."""
        return Ragged(values, self.layout)

    def map(self, function: Callable[[Tensor], Tensor]) -> "Ragged":
        """Apply a row-wise function (a linear layer, an activation) to the rows."""
        return self.with_values(function(self.values))

    def to(self, device: torch.device | str) -> "Ragged":
        """The same batch on another device."""
        values = self.values.to(device)
        return Ragged(values, self.layout.to(values.device))

    def prepend(self, row: Tensor) -> "Ragged":
        """Put the same `row` `[...]` in front of every text (a classification node)."""
        return Ragged(self.layout.prepend_rows(self.values, row), self.layout.prepended)

    def split_first(self) -> "tuple[Tensor, Ragged]":
        """Undo `prepend`: `(first rows [texts, ...], the rest)`; every text must have a row."""
        rest = self.layout.without_first
        first, remaining = self.layout.split_first_rows(self.values, rest)
        return first, Ragged(remaining, rest)

    def sum(self) -> Tensor:
        """Sum over the rows of each text, `[texts, ...]`; 0 for a text without rows."""
        return self._wide_sum().to(self.values.dtype)

    def _wide_sum(self) -> Tensor:
        """The sum in at least 32 bits: in 16 bits it overflows, or stops growing (256 + 1 = 256)."""
        values = (
            self.values.float() if self.values.dtype in (torch.float16, torch.bfloat16) else self.values
        )
        return self.layout.segment_sums(values)

    def mean(self) -> Tensor:
        """Mean over the rows of each text, `[texts, ...]`; 0 for a text without rows."""
        count = self.lengths.clamp(min=1).view(-1, *[1] * (self.values.dim() - 1))
        mean = self._wide_sum() / count
        return mean.to(self.values.dtype) if self.values.is_floating_point() else mean

    def max(self) -> Tensor:
        """Largest value of each feature over the rows of each text, `[texts, ...]`; 0 without rows."""
        return self._scattered_max() if self.values.is_cuda else self.layout.segment_maxima(self.values)

    def _scattered_max(self) -> Tensor:
        """`max` in one kernel, for GPUs: a loop over texts would launch thousands of kernels."""
        rows = self.layout.text_of.view(-1, *[1] * (self.values.dim() - 1)).expand_as(self.values)
        top = self.values.new_zeros((len(self), *self.values.shape[1:]))
        return top.scatter_reduce(0, rows, self.values, "amax", include_self=False)

    def softmax(self) -> "Ragged":
        """Softmax over the rows of each text, separately for every feature."""
        top = self.with_values(self.values.detach()).max()
        exp = (self.values - top.index_select(0, self.layout.text_of)).exp()
        total = self.with_values(exp).sum()
        return self.with_values(exp / total.index_select(0, self.layout.text_of))

    def __repr__(self) -> str:
        shape = ", ".join(map(str, self.values.shape[1:]))
        return f"Ragged({len(self)} texts, {self.layout.total} rows of [{shape}], {self.values.dtype})"


class RaggedModule(nn.Module):
    """A module that takes Ragged batches.

    Raises:
        TypeError: It is called with something else, such as padded rows.
    """

    def __call__(self, *batches: object, **named: object) -> Any:
        for batch in (*batches, *named.values()):
            if not isinstance(batch, Ragged):
                raise TypeError(
                    f"{type(self).__name__} takes a Ragged, got {_describe_value(batch)}; "
                    "Ragged.from_padded(x, mask), Ragged.from_lengths(rows, lengths) or "
                    "Ragged.from_list(texts) make one"
                )
        return super().__call__(*batches, **named)


def _describe_value(value: object) -> str:
    if isinstance(value, Tensor):
        return f"a tensor {list(value.shape)}"
    return f"a {type(value).__name__}"
