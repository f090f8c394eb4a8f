"""Attention within bands, on the CPU, straight on ragged rows: nothing is padded, nothing is [n, n].

Runs every head whose prior is a `Band` (windows, directions, distances, sums of these, everything), with
the kernels of `native/banded_attention.cpp`. Work and memory grow with the band, not with the square of the
text. Results do not depend on the number of threads, nor on the texts beside a text.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from headwise.core import native
from headwise.core.threads import run_jobs
from headwise.nn.attention.bands import cut_texts, looking_bands, reference_gradients, unbanded_reason
from headwise.nn.attention.cpu.kernel_rows import (
    arrays_of,
    computable,
    empty_statistics,
    switched_off_reason,
    unsupported_rows_reason,
)
from headwise.nn.priors import Band, Prior
from headwise.nn.ragged import Layout

_PIECE = 512  # rows of a text that are one item of work
_ALONE = 200_000  # pairs of a query and a key from which more threads than one are worth it


def unsupported_reason(query: Tensor, priors: Sequence[Prior], layout: Layout) -> str | None:
    """Why `attention` cannot run this, or None where it can."""
    return unsupported_rows_reason(query) or unbanded_reason(priors, layout) or switched_off_reason()


def attention(query: Tensor, key: Tensor, value: Tensor, priors: Sequence[Prior], layout: Layout) -> Tensor:
    """Computes the same function as `headwise.nn.attention.reference.attention`; see there.

    16-bit inputs are computed in float32. `query` and `key` may leave out heads whose positions see only
    themselves.
    """
    plan = _BandedPlan.of(layout, tuple(priors), query.shape[1])
    return _Banded.apply(query, key, value, plan, (priors, layout))


class _Banded(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        plan: "_BandedPlan",
        made_for: tuple[Sequence[Prior], Layout],
    ) -> Tensor:
        q, k, v = computable(query, key, value)
        out = torch.empty_like(v, memory_format=torch.contiguous_format)
        stats = empty_statistics(q)
        plan.run(native.banded_forward, (q, k, v, out, stats))
        plan.copy_value_heads(v, out)
        ctx.save_for_backward(query, key, value, out, stats)
        ctx.plan, ctx.made_for = plan, made_for
        return out.to(query.dtype)

    @staticmethod
    def backward(ctx, grad: Tensor) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        query, key, value, out, stats = ctx.saved_tensors
        if torch.is_grad_enabled():  # it is to be differentiated again
            return *reference_gradients(query, key, value, *ctx.made_for, grad=grad), None, None
        *rows, grad_out = computable(query, key, value, grad)
        gradients = [torch.empty_like(x, memory_format=torch.contiguous_format) for x in rows]
        ctx.plan.run(native.banded_backward, (*rows, out, grad_out, *gradients, stats))
        ctx.plan.copy_value_heads(grad_out, gradients[2])
        return *(x.to(grad.dtype) for x in gradients), None, None


@dataclass(frozen=True)
class _BandedPlan:
    """Work items of priors on the texts of a batch; cached in the layout's memo.

    Attributes:
        items: `[items, 8]`, int64, see `BandedItem` in `native/attention.h`; those of a text together.
        pairs: `[items]`: about how many pairs of query and key each item and those before it have.
        slopes: `[heads]`, float64.
        value_heads: The heads that have no query and key: their output is their value.
    """

    items: np.ndarray
    pairs: np.ndarray
    slopes: np.ndarray
    value_heads: list[int]

    @classmethod
    def of(cls, layout: Layout, priors: tuple[Prior, ...], queries: int) -> "_BandedPlan":
        """For priors whose heads have so many `queries`; see `looking_bands`."""
        key = (cls, priors, queries)
        if key not in layout.memo:
            layout.memo[key] = cls._make(layout, len(priors), *looking_bands(priors, layout, queries))
        return layout.memo[key]

    @classmethod
    def _make(cls, layout: Layout, heads: int, looking: list[int], bands: list[Band]) -> "_BandedPlan":
        lengths = layout.lengths.numpy()
        starts = layout.offsets[:-1].numpy()
        text, begin = cut_texts(lengths, _PIECE)
        end = np.minimum(begin + _PIECE, lengths[text])
        items = np.empty((len(text), len(bands), 8), np.int64)
        items[:, :, 0] = np.arange(len(bands))
        items[:, :, 1] = looking
        for place, column in enumerate((starts[text], lengths[text], begin, end), start=2):
            items[:, :, place] = column[:, None]
        for head, band in enumerate(bands):
            items[:, head, 6] = band.left.numpy()[text]
            items[:, head, 7] = band.right.numpy()[text]
        items = items.reshape(-1, 8)
        seen = np.minimum(items[:, 6] + items[:, 7] + 1, items[:, 3]).clip(min=0)
        pairs = ((items[:, 5] - items[:, 4]) * (seen + 16)).cumsum()
        value_heads = [h for h in range(heads) if h not in looking]
        return cls(items, pairs, np.array([band.slope for band in bands]), value_heads)

    def copy_value_heads(self, source: Tensor, target: Tensor) -> None:
        """The heads without query and key, from one tensor `[total, heads, size]` into another."""
        for run in _runs(self.value_heads):
            target[:, run] = source[:, run]

    def run(self, kernel: Callable[..., None], tensors: Sequence[Tensor]) -> None:
        """Call a kernel for all items, in as many threads as torch would use."""
        if not len(self.items):
            return
        arrays = arrays_of(*tensors)

        def work(job: tuple[int, int]) -> None:
            kernel(*arrays, self.items[slice(*job)], self.slopes)

        threads = torch.get_num_threads() if self.pairs[-1] > _ALONE else 1
        run_jobs(work, self._jobs(1 if threads == 1 else 4 * threads), threads)

    def _jobs(self, count: int) -> list[tuple[int, int]]:
        """Up to `count` ranges of items with about the same number of pairs."""
        cuts = np.searchsorted(self.pairs, self.pairs[-1] * np.arange(1, count) / count)
        cuts = np.unique([0, *cuts.tolist(), len(self.items)]).tolist()
        return list(pairwise(cuts))


def _runs(heads: list[int]) -> list[slice]:
    """Neighbouring heads as slices."""
    runs: list[slice] = []
    for head in heads:
        if runs and runs[-1].stop == head:
            runs[-1] = slice(runs[-1].start, head + 1)
        else:
            runs.append(slice(head, head + 1))
    return runs
