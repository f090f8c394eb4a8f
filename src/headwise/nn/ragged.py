"""Ragged: a batch of sequences of different lengths, stored without padding.

`values` holds the rows of all texts one after the other, `[total, ...]`; a `Layout` says where each text
begins and ends. Linear layers run directly on `values`; operations that must not mix texts (pooling,
softmax, attention) use the layout. The result for a text never depends on the other texts of its batch,
since there is no padding that could leak.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from operator import index
from typing import Any, SupportsIndex, TypeVar, cast, overload

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import pad

from headwise.nn.first_rows import is_one_operation, put_rows, take_rows
from headwise.nn.torch_modes import cacheable_tensors, is_ordinary

Derived = TypeVar("Derived")

PARENT = "parent"
"""The mark of words with the row of the word that they depend on, from 0; -1 for a root, -2 for a row that
is no word."""


def _index_tensor(build: "Callable[[Layout], Tensor]") -> "cached_property[Tensor]":
    """A cached property that holds an index tensor."""

    def make(layout: "Layout") -> Tensor:
        if is_ordinary():
            return build(layout)
        with cacheable_tensors():
            return build(layout)

    make.__doc__ = build.__doc__
    return cached_property(make)


class Layout:
    """Where each text of a ragged batch begins and ends.

    Args:
        lengths: Number of rows of each text; 0 is allowed.
        device: Device of the index tensors.
        trees: For parsed texts, the distances in the dependency tree of each text, integers
            `[length, length]` (`headwise.text.syntax.tree_distances`); or a function of
            `(text, start, stop)` that returns the distances among these rows, so that they are computed
            only on demand.
        heads: For parsed texts, the 1-based head of each word, 0 for a root, `[length]`. They give the mark
            `parent`, the row of the head, from 0.
        marks: By name, for each text a whole number of each row, `[length]`, such as its `sentence` and its
            `paragraph` (`headwise.text.document_structure.word_marks`); -1 for a row that belongs to all.
        matrices: By name, for each text a number of each pair of rows, `[length, length]`, that a prior
            adds to the scores (`headwise.nn.priors.Matrix`).

    Raises:
        ValueError: A length is negative, or the trees, heads, marks or matrices do not fit the lengths.
        TypeError: A length is not an integer.

    `cached` keeps expensive data derived from the layout (attention masks, graphs) for the lifetime of the
    layout, that is one batch.
    """

    def __init__(
        self,
        lengths: Sequence[int],
        device: torch.device | str = "cpu",
        trees: Sequence[Tensor] | Callable[[int, int, int], Tensor] | None = None,
        heads: Sequence[Tensor] | None = None,
        marks: Mapping[str, Sequence[Tensor]] | None = None,
        matrices: Mapping[str, Sequence[Tensor]] | None = None,
    ):
        self.sizes: tuple[int, ...] = tuple(map(index, lengths))
        if min(self.sizes, default=0) < 0:
            raise ValueError(f"lengths must not be negative, got {min(self.sizes)}")
        self.device = torch.device(device)
        if trees is not None and not callable(trees):
            shapes = [tuple(tree.shape) for tree in trees]
            if shapes != [(n, n) for n in self.sizes]:
                raise ValueError(f"tree distances {shapes} do not fit texts of {list(self.sizes)} rows")
            trees = tuple(tree.to(self.device) for tree in trees)
        self._trees = trees
        if heads is not None and [len(text_heads) for text_heads in heads] != [*self.sizes]:
            raise ValueError(
                f"heads of {[len(text_heads) for text_heads in heads]} words do not fit {list(self.sizes)}"
            )
        self.heads = None if heads is None else tuple(heads)
        marks = dict(marks or {})
        if heads is not None:
            marks.setdefault(PARENT, [head - 1 for head in heads])
        for name, numbers in marks.items():
            if [len(text_numbers) for text_numbers in numbers] != [*self.sizes]:
                raise ValueError(
                    f"{name}: numbers of {[len(text_numbers) for text_numbers in numbers]} rows do not fit "
                    f"{list(self.sizes)}"
                )
        self.marks = {
            name: tuple(number.to(self.device) for number in numbers) for name, numbers in marks.items()
        }
        for name, numbers in (matrices or {}).items():
            for text, (n, matrix) in enumerate(zip(self.sizes, numbers, strict=True), start=1):
                if tuple(matrix.shape) != (n, n):
                    raise ValueError(f"{name}, text {text}: a matrix {list(matrix.shape)} for {n} rows")
        self.matrices = {
            name: tuple(matrix.to(self.device) for matrix in numbers)
            for name, numbers in (matrices or {}).items()
        }
        self.memo: dict[Hashable, Any] = {}

    def cached(self, key: Hashable, make: Callable[[], Derived]) -> Derived:
        """What `make` returns, made once for each key, with tensors that any mode of PyTorch may use."""
        if key not in self.memo:
            if is_ordinary():
                self.memo[key] = make()
            else:
                with cacheable_tensors():
                    self.memo[key] = make()
        return self.memo[key]

    @property
    def texts(self) -> int:
        """Number of texts."""
        return len(self.sizes)

    @property
    def parsed(self) -> bool:
        """Whether the layout has trees."""
        return self._trees is not None

    @cached_property
    def trees(self) -> tuple[Tensor, ...] | None:
        """The tree distances of each text, `[length, length]`; None without trees."""
        if not callable(self._trees):
            return None if self._trees is None else tuple(self._trees)
        return tuple(self.tree(text, 0, size) for text, size in enumerate(self.sizes))

    def tree(self, text: int, start: int, stop: int) -> Tensor:
        """The tree distances among the rows `start` to `stop` of a text, `[stop - start, stop - start]`."""
        if callable(self._trees):
            with cacheable_tensors():
                return self._trees(text, start, stop).to(self.device)
        return (self._trees or ())[text][start:stop, start:stop]

    @cached_property
    def total(self) -> int:
        """Total number of rows."""
        return sum(self.sizes)

    @cached_property
    def longest(self) -> int:
        """Number of rows of the longest text, 0 for an empty batch."""
        return max(self.sizes, default=0)

    @_index_tensor
    def lengths(self) -> Tensor:
        """Number of rows of each text, int64 `[texts]`."""
        return torch.tensor(self.sizes, dtype=torch.int64, device=self.device)

    @_index_tensor
    def offsets(self) -> Tensor:
        """Row offsets, int64 `[texts + 1]`: text `t` has the rows `offsets[t]` to `offsets[t + 1]`."""
        return self._on_device(np.cumsum([0, *self.sizes], dtype=np.int64))

    @_index_tensor
    def text_of(self) -> Tensor:
        """The index of the text that each row belongs to, int64 `[total]`."""
        return self._on_device(self._text_of())

    @_index_tensor
    def positions(self) -> Tensor:
        """The position of each row in its text, from 0, int64 `[total]`."""
        rows = torch.arange(self.total, device=self.device)
        return rows - self.offsets[:-1][self.text_of]

    @_index_tensor
    def rows_behind_first(self) -> Tensor:
        """The rows of the layout in `prepended`, int64 `[total]`."""
        return self._on_device(np.arange(1, self.total + 1, dtype=np.int64) + self._text_of())

    def _text_of(self) -> NDArray[np.int64]:
        texts = np.arange(self.texts, dtype=np.int64)
        return np.repeat(texts, np.array(self.sizes, dtype=np.int64))

    def _on_device(self, numbers: NDArray[np.int64]) -> Tensor:
        """An array, made without PyTorch, which takes several times as long for a few numbers."""
        return torch.from_numpy(numbers).to(self.device)

    @cached_property
    def prepended(self) -> "Layout":
        """The layout with one more row before every text (see `Ragged.prepend`). Its tree distance from
        every word is 0, and it belongs to every sentence and paragraph."""
        trees = None if self.trees is None else [pad(tree, (1, 0, 1, 0)) for tree in self.trees]
        marks = self._map_marks(lambda mark: pad(mark, (1, 0), value=-1))
        if PARENT in marks:
            rows = self.marks[PARENT]
            marks[PARENT] = [pad(row + (row >= 0).long(), (1, 0), value=-2) for row in rows]
        matrices = self._map_matrices(lambda matrix: pad(matrix, (1, 0, 1, 0)))
        return Layout([n + 1 for n in self.sizes], self.device, trees, marks=marks, matrices=matrices)

    @property
    def without_first(self) -> "Layout":
        """The layout without the first row of every text; every text must have a row."""
        if min(self.sizes, default=1) == 0:
            raise ValueError("a text without rows has no first row")
        trees = None if self.trees is None else [tree[1:, 1:] for tree in self.trees]
        marks = self._map_marks(lambda mark: mark[1:])
        if PARENT in marks:
            marks[PARENT] = [(row - 1).where(row > 0, -1) for row in marks[PARENT]]
        matrices = self._map_matrices(lambda matrix: matrix[1:, 1:])
        return Layout([n - 1 for n in self.sizes], self.device, trees, marks=marks, matrices=matrices)

    def _map_matrices(self, change: Callable[[Tensor], Tensor]) -> dict[str, list[Tensor]]:
        return {name: list(map(change, numbers)) for name, numbers in self.matrices.items()}

    def matrices_of(self, text: int) -> dict[str, Tensor]:
        """The matrices of a text, by name, `[length, length]`."""
        return {name: numbers[text] for name, numbers in self.matrices.items()}

    def _map_marks(self, change: Callable[[Tensor], Tensor]) -> dict[str, list[Tensor]]:
        return {name: list(map(change, numbers)) for name, numbers in self.marks.items()}

    def marks_of(self, text: int) -> dict[str, Tensor]:
        """The marks of the rows of a text, by name, `[length]`."""
        return {name: numbers[text] for name, numbers in self.marks.items()}

    def prepend_rows(self, values: Tensor, row: Tensor) -> Tensor:
        """See `Ragged.prepend`: `[total, ...]` -> the rows of `prepended`."""
        if is_one_operation(values):
            return put_rows(values, row, self.rows_behind_first, self.prepended.offsets[:-1])
        rows = row.to(values.dtype).expand(self.texts, *row.shape)
        either = torch.cat([values[:0], rows[:0]])  # under torch.func.vmap, one of them may be batched
        combined = either.new_empty((self.prepended.total, *values.shape[1:]))
        combined.index_copy_(0, self.rows_behind_first, values)
        return combined.index_copy_(0, self.prepended.offsets[:-1], rows)

    def split_first_rows(self, values: Tensor, rest: "Layout") -> tuple[Tensor, Tensor]:
        """See `Ragged.split_first`: the first rows, `[texts, ...]`, and those of `without_first`."""
        first, behind = self.offsets[:-1], rest.rows_behind_first
        if is_one_operation(values):
            return take_rows(values, behind, first)
        return values.index_select(0, first), values.index_select(0, behind)

    def segment_sums(self, values: Tensor) -> Tensor:
        """See `Ragged.sum`: `[total, ...]` -> `[texts, ...]`."""
        return values.new_zeros((self.texts, *values.shape[1:])).index_add(0, self.text_of, values)

    def segment_maxima(self, values: Tensor) -> Tensor:
        """See `Ragged.max`: `[total, ...]` -> `[texts, ...]`."""
        none = values.new_zeros(values.shape[1:])
        tops = [piece.max(0).values if len(piece) else none for piece in values.split(self.sizes)]
        return torch.stack(tops) if tops else values.new_zeros((0, *values.shape[1:]))

    def select(self, texts: Sequence[int]) -> "Layout":
        """The layout of some of the texts, in the order given."""
        heads = None if self.heads is None else [self.heads[t] for t in texts]
        trees = self._trees
        if callable(trees):
            trees = partial(self._tree_among, tuple(texts))  # picklable if the function is
        elif trees is not None:
            trees = [trees[t] for t in texts]
        marks = {name: [numbers[t] for t in texts] for name, numbers in self.marks.items()}
        matrices = {name: [numbers[t] for t in texts] for name, numbers in self.matrices.items()}
        return Layout([self.sizes[t] for t in texts], self.device, trees, heads, marks, matrices)

    def _tree_among(self, texts: Sequence[int], text: int, start: int, stop: int) -> Tensor:
        return self.tree(texts[text], start, stop)

    def to(self, device: torch.device | str) -> "Layout":
        """The layout with its index tensors on `device`."""
        if torch.device(device) == self.device:
            return self
        return Layout(self.sizes, device, self._trees, self.heads, self.marks, self.matrices)

    def __repr__(self) -> str:
        return f"Layout(texts={self.texts}, total={self.total}, longest={self.longest})"


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
    def from_offsets(cls, values: Tensor, offsets: Tensor) -> "Ragged":
        """A batch from packed rows and offsets `[texts + 1]`, beginning with 0 as in nested tensors."""
        if offsets.dim() != 1 or len(offsets) == 0 or int(offsets[0]) != 0:
            raise ValueError("offsets must be one-dimensional and begin with 0")
        return cls.from_lengths(values, offsets.diff().tolist())

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
