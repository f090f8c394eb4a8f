"""Self-attention within bands with its projections as one operation, on the CPU.

It computes what `SelfAttention` computes with `headwise.nn.attention.cpu.banded`. W^Q, W^K and W^V are
multiplied in one product, and the kernels read queries, keys and values where that leaves them. On a batch
of short texts this takes two thirds of the time of the operations one by one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch._C._functorch import peek_interpreter_stack
from torch.nn import functional

from headwise.core import native
from headwise.nn.attention.bands import plan_of
from headwise.nn.attention.cpu import banded
from headwise.nn.kernel_rows import arrays_of, empty_statistics
from headwise.nn.layers.row_blocks import linear
from headwise.nn.layout import Layout
from headwise.nn.priors import Prior
from headwise.nn.torch_modes import differentiable_gradients


def is_supported(rows: Tensor, weight: Tensor, priors: Sequence[Prior], layout: Layout) -> bool:
    """Whether `self_attention` can compute this; `priors` are those of the heads that see more than
    themselves."""
    return (
        rows.dtype == weight.dtype
        and rows.dtype in (torch.float32, torch.float64)
        and not torch.is_autocast_enabled("cpu")
        and peek_interpreter_stack() is None  # no transform of torch.func, which would wrap the weights
        and banded.unsupported_reason(rows, priors, layout) is None
    )


@dataclass(frozen=True)
class HeadShapes:
    """The heads of a layer.

    Attributes:
        priors: What each head sees.
        attending: The heads that see more than themselves: the others need neither query nor key.
        size: Features of a head.
    """

    priors: tuple[Prior, ...]
    attending: tuple[int, ...]
    size: int

    @property
    def attending_weights(self) -> "slice | list[int]":
        """The weights of the heads that look, as rows of W^Q or W^K; those of neighbouring heads are a
        view."""
        first, last = self.attending[0], self.attending[-1]
        if last - first == len(self.attending) - 1:
            return slice(first * self.size, (last + 1) * self.size)
        return [head * self.size + feature for head in self.attending for feature in range(self.size)]

    def split(self, projected: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Split rows of the joint projection into queries, keys and values, `[rows, heads, size]` each. All
        heads have values; only attending heads have queries and keys."""
        queries = len(self.attending)
        sizes = (len(self.priors), queries, queries)
        value, query, key = projected.unflatten(1, (-1, self.size)).split_with_sizes(sizes, 1)
        return query, key, value


def self_attention(
    rows: Tensor, heads: HeadShapes, layout: Layout, weights: Sequence[Tensor], biases: Sequence[Tensor]
) -> Tensor:
    """Multi-head self-attention, `[total, width]`.

    Args:
        rows: `[total, width]`.
        heads: The heads; their priors are bands.
        layout: The texts.
        weights: W^Q, W^K, W^V and W^O; the first three have an output for each feature of each head.
        biases: Those of the same projections; none for a layer without.
    """
    return _ProjectedBands.apply(rows, heads, layout, *weights, *biases)


def _one_by_one(rows: Tensor, heads: HeadShapes, layout: Layout, *parameters: Tensor) -> Tensor:
    """The same result by separate PyTorch operations, which are twice differentiable."""
    part = heads.attending_weights
    query, key, value, out = parameters[:4]
    query_bias, key_bias, value_bias, out_bias = parameters[4:] or (None,) * 4
    attending = [
        functional.linear(rows, weight[part], None if bias is None else bias[part])
        for weight, bias in ((query, query_bias), (key, key_bias))
    ]
    projected = [
        x.unflatten(1, (-1, heads.size)) for x in (*attending, functional.linear(rows, value, value_bias))
    ]
    mixed = banded.attention(projected[0], projected[1], projected[2], heads.priors, layout)
    return functional.linear(mixed.flatten(1), out, out_bias)


class _ProjectedBands(torch.autograd.Function):
    @staticmethod
    def forward(ctx, rows: Tensor, heads: HeadShapes, layout: Layout, *parameters: Tensor) -> Tensor:
        (query, key, value, out), biases = parameters[:4], parameters[4:]
        part = heads.attending_weights
        weight = torch.cat([value, query[part], key[part]])
        bias = torch.cat([biases[2], biases[0][part], biases[1][part]]) if biases else None
        projected = linear(rows.detach(), weight, bias)
        q, k, v = heads.split(projected)
        plan = plan_of(layout, heads.priors, len(heads.attending))
        if rows.dtype == torch.float32:
            plan = plan.without_lost_keys(*arrays_of(q, k))
        mixed, statistics = torch.empty_like(v, memory_format=torch.contiguous_format), empty_statistics(q)
        plan.run(native.banded_forward, arrays_of(q, k, v, mixed, statistics))
        banded.copy_value_heads(plan, v, mixed)
        ctx.save_for_backward(rows, *parameters, weight, projected, mixed, statistics)
        ctx.plan, ctx.heads, ctx.layout = plan, heads, layout
        return linear(mixed.flatten(1), out.detach(), biases[3].detach() if biases else None)

    @staticmethod
    def backward(ctx, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        rows, *parameters, weight, projected, mixed, statistics = ctx.saved_tensors
        (gradient,), heads, needed = gradients, ctx.heads, ctx.needs_input_grad
        if torch.is_grad_enabled():  # it is to be differentiated again
            arguments = rows, heads, ctx.layout, *parameters
            return differentiable_gradients(_one_by_one, gradients, needed, *arguments)
        q, k, v = heads.split(projected)
        mixed_gradient = linear(gradient, parameters[3].t()).view_as(mixed)
        for_projected = torch.empty_like(projected)
        for_q, for_k, for_v = heads.split(for_projected)
        arrays = arrays_of(q, k, v, mixed, mixed_gradient, for_q, for_k, for_v, statistics)
        ctx.plan.run(native.banded_backward, arrays)
        banded.copy_value_heads(ctx.plan, mixed_gradient, for_v)
        for_weights = _in_parts(for_projected.t() @ rows, heads), gradient.t() @ mixed.flatten(1)
        for_biases: tuple[Tensor, ...] = ()
        if len(parameters) > 4:
            for_biases = *_in_parts(for_projected.sum(0), heads), gradient.sum(0)
        for_rows = linear(for_projected, weight.t()) if needed[0] else None
        return for_rows, None, None, *for_weights[0], for_weights[1], *for_biases


def _in_parts(gradients: Tensor, heads: HeadShapes) -> tuple[Tensor, Tensor, Tensor]:
    """Split the gradients of the joint projection into those of W^Q, W^K and W^V, or of their biases."""
    queries = len(heads.attending) * heads.size
    value, query, key = gradients.split_with_sizes((len(heads.priors) * heads.size, queries, queries))
    if queries == len(value):
        return query, key, value
    full = [torch.zeros_like(value) for _ in range(2)]
    for target, source in zip(full, (query, key), strict=True):
        target[heads.attending_weights] = source
    return full[0], full[1], value
