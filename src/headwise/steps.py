"""Steps: the rows of a ragged batch ordered by their place in the text, for what must go word by word.

A recurrence (a CRF, an LSTM) takes all first rows at once, then all second rows, and so on. With the
longest text first, the texts that go on at a step are the first so many of the step before: no padding.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from headwise.keeping import to_be_kept
from headwise.ragged import Layout


@dataclass(frozen=True)
class Steps:
    """The order of the rows, step by step; texts without rows take no part.

    Attributes:
        sizes: How many texts have a row at each step, never rising, `[longest]`.
        texts: Numbers of the texts with rows, the longest first, `[full texts]`.
        rows: The row of the batch that stands at each place of the order, `[total]`.
        places: The place of each row of the batch, `[total]`: the inverse of `rows`.
        ranks: For each place, which of `texts` the row belongs to, `[total]`.
        previous: The place of the row before, for each place after the first step, `[total - full texts]`.
        last: The place of the last row of each of `texts`, `[full texts]`.
    """

    sizes: tuple[int, ...]
    texts: Tensor
    rows: Tensor
    places: Tensor
    ranks: Tensor
    previous: Tensor
    last: Tensor


def steps_of(layout: Layout) -> Steps:
    """The steps of a batch; computed once for each layout."""
    if Steps not in layout.memo:
        layout.memo[Steps] = _steps(layout)
    return layout.memo[Steps]


def _steps(layout: Layout) -> Steps:
    lengths = np.array(layout.sizes, dtype=np.int64)
    texts = np.argsort(-lengths, kind="stable")[: np.count_nonzero(lengths)]
    # A step has as many texts as are longer than its number.
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
    with to_be_kept():
        tensors = [
            torch.from_numpy(array).to(layout.device)
            for array in (texts, rows, places, rank, previous, last)
        ]
    return Steps(tuple(sizes.tolist()), *tensors)
