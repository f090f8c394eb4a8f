"""Layout: where each text of a batch begins and ends, with the marks and matrices of its words.

Operations that must not mix texts (pooling, softmax, attention) use the layout. It caches what several
layers compute from it.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property, partial, wraps
from operator import index
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch._C._functorch import peek_interpreter_stack
from torch.nn.functional import pad

from headwise.nn.torch_modes import cacheable_tensors, is_ordinary

Derived = TypeVar("Derived")

PARENT = "parent"
"""The mark of words with the row of the word that they depend on, from 0; -1 for a root, -2 for a row that
is no word."""


def _for_any_mode(make: Callable[[], Derived]) -> Derived:
    """What a function returns, with tensors that any mode of PyTorch may use."""
    if is_ordinary():
        return make()
    with cacheable_tensors():
        return make()


def _cacheable(build: "Callable[[Layout], Tensor]") -> "Callable[[Layout], Tensor]":
    """Makes an index tensor such that any mode of PyTorch may use it."""
    return wraps(build)(lambda layout: _for_any_mode(lambda: build(layout)))


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
            self.memo[key] = _for_any_mode(make)
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

    @cached_property
    @_cacheable
    def lengths(self) -> Tensor:
        """Number of rows of each text, int64 `[texts]`."""
        return torch.tensor(self.sizes, dtype=torch.int64, device=self.device)

    @cached_property
    @_cacheable
    def offsets(self) -> Tensor:
        """Row offsets, int64 `[texts + 1]`: text `t` has the rows `offsets[t]` to `offsets[t + 1]`."""
        return self._on_device(np.cumsum([0, *self.sizes], dtype=np.int64))

    @cached_property
    @_cacheable
    def text_of(self) -> Tensor:
        """The index of the text that each row belongs to, int64 `[total]`."""
        return self._on_device(self._text_of())

    @cached_property
    @_cacheable
    def positions(self) -> Tensor:
        """The position of each row in its text, from 0, int64 `[total]`."""
        rows = torch.arange(self.total, device=self.device)
        return rows - self.offsets[:-1][self.text_of]

    @cached_property
    @_cacheable
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
        if _is_one_operation(values):
            return _PutRows.apply(values, row, self.rows_behind_first, self.prepended.offsets[:-1])
        rows = row.to(values.dtype).expand(self.texts, *row.shape)
        either = torch.cat([values[:0], rows[:0]])  # under torch.func.vmap, one of them may be batched
        combined = either.new_empty((self.prepended.total, *values.shape[1:]))
        combined.index_copy_(0, self.rows_behind_first, values)
        return combined.index_copy_(0, self.prepended.offsets[:-1], rows)

    def split_first_rows(self, values: Tensor, rest: "Layout") -> tuple[Tensor, Tensor]:
        """See `Ragged.split_first`: the first rows, `[texts, ...]`, and those of `without_first`."""
        first, behind = self.offsets[:-1], rest.rows_behind_first
        if _is_one_operation(values):
            first_rows, remaining = _TakeRows.apply(values, behind, first)
            return first_rows, remaining
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


def _is_one_operation(values: Tensor) -> bool:
    """Whether rows are put in front of texts, and taken, with one node in the graph of gradients: nothing
    compiles, traces or transforms."""
    return not (
        torch.compiler.is_compiling()
        or torch._C._get_tracing_state() is not None
        or peek_interpreter_stack() is not None
        or type(values) is not Tensor
    )


def _joined(values: Tensor, rows: Tensor, places: Tensor, first: Tensor) -> Tensor:
    total = len(places) + len(first)
    joined = values.new_empty(total, *values.shape[1:]).index_copy_(0, places, values)
    return joined.index_copy_(0, first, rows)


class _PutRows(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, row: Tensor, places: Tensor, first: Tensor) -> Tensor:
        ctx.save_for_backward(places, first)
        return _joined(values, row.to(values.dtype).expand(len(first), *row.shape), places, first)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None, None]:
        (gradient,), (places, first) = gradients, ctx.saved_tensors
        return gradient.index_select(0, places), gradient.index_select(0, first).sum(0), None, None


class _TakeRows(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, places: Tensor, first: Tensor) -> tuple[Tensor, Tensor]:
        ctx.save_for_backward(places, first)
        return values.index_select(0, first), values.index_select(0, places)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        (of_first, of_remaining), (places, first) = gradients, ctx.saved_tensors
        return _joined(of_remaining, of_first, places, first), None, None
