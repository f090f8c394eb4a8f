"""The rows in front of texts, as one operation with one node of the graph of gradients."""

from typing import Any

import torch
from torch import Tensor
from torch._C._functorch import peek_interpreter_stack


def is_one_operation(values: Tensor) -> bool:
    """Whether `put_rows` and `take_rows` hold for these values: nothing compiles, traces or transforms."""
    return not (
        torch.compiler.is_compiling()
        or torch._C._get_tracing_state() is not None
        or peek_interpreter_stack() is not None
        or type(values) is not Tensor
    )


def put_rows(values: Tensor, row: Tensor, places: Tensor, first: Tensor) -> Tensor:
    """Values `[total, ...]` at `places`, and the same row `[...]` at the places `first`."""
    return _PutRows.apply(values, row, places, first)


def take_rows(values: Tensor, places: Tensor, first: Tensor) -> tuple[Tensor, Tensor]:
    """The rows at `first` and those at `places`, which together are all rows, each once."""
    first_rows, behind = _TakeRows.apply(values, places, first)
    return first_rows, behind


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
        (of_first, of_others), (places, first) = gradients, ctx.saved_tensors
        return _joined(of_others, of_first, places, first), None, None
