"""The bands of priors on the texts of a batch, which the kernels for bands work from."""

from collections.abc import Sequence

import numpy as np
import torch

from headwise.core.errors import ConfigError
from headwise.nn.priors import Band, Prior
from headwise.nn.priors.validation import check_band
from headwise.nn.ragged import Layout
from headwise.nn.torch_modes import cacheable_tensors


def band_of(prior: Prior, layout: Layout) -> Band | None:
    """The band of a prior, in the memory of the CPU wherever the batch is; None where it is no band.
    Remembered with the layout.

    Raises:
        ConfigError: The prior is not headwise's own, and its band is not what it says itself.
    """
    key = (band_of, prior)
    if key not in layout.memo:
        with cacheable_tensors():
            lengths = torch.tensor(layout.sizes, dtype=torch.int64, device="cpu")
            band = prior.band(lengths)
            if band is not None:
                check_band(prior, lengths)
        layout.memo[key] = band
    return layout.memo[key]


def unbanded_reason(priors: Sequence[Prior], layout: Layout) -> str | None:
    """Which of the priors is no band; None where all are."""
    unbanded = next((prior for prior in priors if band_of(prior, layout) is None), None)
    return None if unbanded is None else f"the prior {str(unbanded)!r} is no band"


def looking_heads(priors: Sequence[Prior], queries: int) -> list[int]:
    """The heads that have queries: all where there are `queries` for all, else those that see more than
    themselves."""
    return [h for h, prior in enumerate(priors) if queries == len(priors) or not prior.only_self]


def looking_bands(priors: Sequence[Prior], layout: Layout, queries: int) -> tuple[list[int], list[Band]]:
    """The heads that have queries, see `looking_heads`, and their bands.

    Raises:
        ConfigError: A prior is no band.
    """
    looking = looking_heads(priors, queries)
    bands = [band for h in looking if (band := band_of(priors[h], layout)) is not None]
    if len(bands) < len(looking):
        raise ConfigError("banded attention needs priors that are bands")
    return looking, bands


def cut_texts(lengths: np.ndarray, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Texts in pieces of so many rows, one after the other: the text that each is of, and its first row in
    that text, `[pieces]`."""
    counts = -(-lengths // rows)
    text = np.repeat(np.arange(len(lengths)), counts)
    return text, (np.arange(len(text)) - np.repeat(counts.cumsum() - counts, counts)) * rows
