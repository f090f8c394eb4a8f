"""Attention within bands, on the CPU, straight on ragged rows: nothing is padded, nothing is [n, n].

Runs every head whose prior is a `Band` (windows, directions, distances, sums of these, everything), with
the kernels of `native/banded_attention.cpp`. Work and memory grow with the band, not with the square of the
text; in float32, keys whose weight a slope loses in rounding are not read. Results do not depend on the
number of threads, nor on the texts beside a text.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from headwise.core import native
from headwise.nn.attention.bands import plan_of, reference_gradients, unbanded_reason
from headwise.nn.kernel_rows import (
    arrays_of,
    computable,
    empty_statistics,
    switched_off_reason,
    unsupported_rows_reason,
)
from headwise.nn.layout import Layout
from headwise.nn.priors import Prior
from headwise.runtime.banded_plan import BandedPlan


def unsupported_reason(query: Tensor, priors: Sequence[Prior], layout: Layout) -> str | None:
    """Why `attention` cannot run this, or None where it can."""
    return unsupported_rows_reason(query) or unbanded_reason(priors, layout) or switched_off_reason()


def attention(query: Tensor, key: Tensor, value: Tensor, priors: Sequence[Prior], layout: Layout) -> Tensor:
    """Computes the same function as `headwise.nn.attention.reference.attention`; see there.

    16-bit inputs are computed in float32. `query` and `key` may leave out heads whose positions see only
    themselves.
    """
    plan = plan_of(layout, tuple(priors), query.shape[1])
    return _Banded.apply(query, key, value, plan, (priors, layout))


class _Banded(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        plan: BandedPlan,
        made_for: tuple[Sequence[Prior], Layout],
    ) -> Tensor:
        q, k, v = computable(query, key, value)
        out = torch.empty_like(v, memory_format=torch.contiguous_format)
        stats = empty_statistics(q)
        if q.dtype == torch.float32:
            plan = plan.without_lost_keys(*arrays_of(q, k))
        plan.run(native.banded_forward, arrays_of(q, k, v, out, stats))
        copy_value_heads(plan, v, out)
        ctx.save_for_backward(query, key, value, out, stats)
        ctx.plan, ctx.made_for = plan, made_for
        return out.to(query.dtype)

    @staticmethod
    def backward(ctx, *grad_outputs: Tensor) -> tuple[Tensor | None, ...]:
        (grad,) = grad_outputs
        query, key, value, out, stats = ctx.saved_tensors
        if torch.is_grad_enabled():  # it is to be differentiated again
            return *reference_gradients(query, key, value, *ctx.made_for, grad=grad), None, None
        *rows, grad_out = computable(query, key, value, grad)
        gradients = [torch.empty_like(x, memory_format=torch.contiguous_format) for x in rows]
        plan: BandedPlan = ctx.plan
        plan.run(native.banded_backward, arrays_of(*rows, out, grad_out, *gradients, stats))
        copy_value_heads(plan, grad_out, gradients[2])
        return *(x.to(grad.dtype) for x in gradients), None, None


def copy_value_heads(plan: BandedPlan, source: Tensor, target: Tensor) -> None:
    """The heads without query and key, from one tensor `[total, heads, size]` into another."""
    for run in plan.value_runs():
        target[:, run] = source[:, run]
