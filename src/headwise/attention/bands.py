"""The bands of priors on the texts of a batch, which the kernels for bands work from."""

import torch

from headwise.priors import Band, Prior
from headwise.ragged import Layout


def band_of(prior: Prior, layout: Layout) -> Band | None:
    """The band of a prior, in the memory of the CPU wherever the batch is; None where it is no band.
    Remembered with the layout."""
    key = (band_of, prior)
    if key not in layout.memo:
        with torch.inference_mode(False):
            layout.memo[key] = prior.band(torch.tensor(layout.sizes, dtype=torch.int64))
    return layout.memo[key]
