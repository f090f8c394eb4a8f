"""From the priors of a batch to the numbers that the banded kernels compute with: a prior's `Band`, and the
`BandedPlan` of all heads."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from headwise.core.errors import ConfigError
from headwise.nn.attention import reference
from headwise.nn.layout import Layout
from headwise.nn.priors import Band, Prior
from headwise.nn.priors.validation import check_band, is_built_in
from headwise.nn.torch_modes import differentiable_gradients
from headwise.runtime.banded_plan import BandedPlan


def band_of(prior: Prior, layout: Layout) -> Band | None:
    """The band of a prior, in CPU memory; None if the prior is no band. Cached in the layout.

    Raises:
        ConfigError: The band of a user-defined prior does not agree with the prior.
    """
    return layout.cached((band_of, prior), lambda: _new_band(prior, layout))


def _new_band(prior: Prior, layout: Layout) -> Band | None:
    if is_built_in(prior):  # in NumPy: on a few numbers that takes a tenth of the time of PyTorch
        return prior.band(np.array(layout.sizes, dtype=np.int64))
    lengths = torch.tensor(layout.sizes, dtype=torch.int64, device="cpu")
    band = prior.band(lengths)
    if band is not None:
        check_band(prior, lengths)
    return band


def unbanded_reason(priors: Sequence[Prior], layout: Layout) -> str | None:
    """The reason why priors have no bands: the first that has none; None if all have one."""
    unbanded = next((prior for prior in priors if band_of(prior, layout) is None), None)
    return None if unbanded is None else f"the prior {str(unbanded)!r} is not a band"


def attending_heads(priors: Sequence[Prior], queries: int) -> list[int]:
    """The heads that have queries. If the layer has `queries` for all heads, all of them; else those that
    see more than their own position."""
    return [h for h, prior in enumerate(priors) if queries == len(priors) or not prior.is_identity]


def attending_bands(priors: Sequence[Prior], layout: Layout, queries: int) -> tuple[list[int], list[Band]]:
    """The heads that have queries, see `attending_heads`, and their bands.

    Raises:
        ConfigError: A prior is no band.
    """
    attending = attending_heads(priors, queries)
    bands = [band for h in attending if (band := band_of(priors[h], layout)) is not None]
    if len(bands) < len(attending):
        raise ConfigError("banded attention needs priors that are bands")
    return attending, bands


def plan_of(layout: Layout, priors: tuple[Prior, ...], queries: int) -> BandedPlan:
    """The work items of priors on the texts of a batch, cached in the layout. `queries` is the
    number of query heads (see `attending_bands`)."""

    def make() -> BandedPlan:
        attending, bands = attending_bands(priors, layout, queries)
        return BandedPlan.of(np.array(layout.sizes, dtype=np.int64), len(priors), attending, bands)

    return layout.cached((plan_of, priors, queries), make)


def reference_gradients(
    query: Tensor, key: Tensor, value: Tensor, priors: Sequence[Prior], layout: Layout, grad: Tensor
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """The gradients of attention in a form that can be differentiated again.

    Args:
        query: See `headwise.nn.attention.reference.attention`; may leave out the heads that see only
            themselves.
        key: Like `query`.
        value: Values of all heads.
        priors: See `headwise.nn.attention.reference.attention`.
        layout: The texts.
        grad: Gradient of the output.

    Returns:
        The gradients of query, key and value; None for inputs that need none.
    """

    def compute(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        attending = attending_heads(priors, query.shape[1])
        seen = reference.attention(query, key, value[:, attending], [priors[h] for h in attending], layout)
        return value.index_copy(1, torch.tensor(attending, device=value.device), seen)

    inputs = query, key, value
    query_grad, key_grad, value_grad = differentiable_gradients(
        compute, [grad], [x.requires_grad for x in inputs], *inputs
    )
    return query_grad, key_grad, value_grad
