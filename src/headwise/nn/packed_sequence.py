"""Steps: the rows of a ragged batch ordered by time step, as in a packed sequence.

A recurrence (a CRF, an LSTM) processes the first rows of all texts, then all second rows, and so on. Texts
are sorted by length, longest first, so that the texts active at a step are a prefix of those at the step
before, and no padding is needed.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from headwise.nn.layout import Layout
from headwise.nn.torch_modes import cacheable_tensors


@dataclass(frozen=True)
class PackedSequence:
    """A packed sequence: the rows ordered by time step. Texts without rows are left out.

    Attributes:
        sizes: Number of texts with a row at each step, non-increasing, `[longest]`.
        texts: Indices of the non-empty texts, the longest first, `[non-empty texts]`.
        rows: The batch row at each place of the order, `[total]`.
        places: The place of each batch row, `[total]`; the inverse of `rows`.
        ranks: For each place, the index into `texts` of its text, `[total]`.
        previous: The place of the previous row of the same text, for each place after the first step,
            `[total - non-empty texts]`.
        last: The place of the last row of each of `texts`, `[non-empty texts]`.
    """

    sizes: tuple[int, ...]
    texts: Tensor
    rows: Tensor
    places: Tensor
    ranks: Tensor
    previous: Tensor
    last: Tensor


def pack_layout(layout: Layout) -> PackedSequence:
    """The steps of a batch; cached in the layout."""
    return layout.cached(PackedSequence, lambda: _pack_steps(layout))


def _pack_steps(layout: Layout) -> PackedSequence:
    lengths = np.array(layout.sizes, dtype=np.int64)
    texts = np.argsort(-lengths, kind="stable")[: np.count_nonzero(lengths)]
    # At step t, the texts longer than t are active.
    ends = np.bincount(lengths[texts], minlength=layout.longest + 1)
    sizes = len(texts) - ends.cumsum()[:-1]
    starts = sizes.cumsum() - sizes
    step = np.repeat(np.arange(len(sizes)), sizes)
    rank = np.arange(layout.total) - starts[step]
    rows = (lengths.cumsum() - lengths)[texts[rank]] + step
    places = np.empty_like(rows)
    places[rows] = np.arange(layout.total)
    later = np.arange(len(texts), layout.total)
    previous = later - sizes[step[len(texts) :] - 1]
    last = starts[lengths[texts] - 1] + np.arange(len(texts))
    with cacheable_tensors():
        tensors = [
            torch.from_numpy(array).to(layout.device)
            for array in (texts, rows, places, rank, previous, last)
        ]
    return PackedSequence(tuple(sizes.tolist()), *tensors)
