"""The bands of priors on the texts of a batch, which the kernels for bands work from."""

import torch

from headwise.priors import Band, Prior
from headwise.priors.checked import check_band
from headwise.ragged import Layout


def band_of(prior: Prior, layout: Layout) -> Band | None:
    """The band of a prior, in the memory of the CPU wherever the batch is; None where it is no band.
    Remembered with the layout.

    Raises:
        ConfigError: The prior is not headwise's own, and its band is not what it says itself.
    """
    key = (band_of, prior)
    if key not in layout.memo:
        with torch.inference_mode(False):
            lengths = torch.tensor(layout.sizes, dtype=torch.int64)
            band = prior.band(lengths)
            if band is not None:
                check_band(prior, lengths)
        layout.memo[key] = band
    return layout.memo[key]
