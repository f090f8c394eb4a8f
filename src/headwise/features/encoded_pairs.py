"""Batches of encoded pairs of texts."""

from collections.abc import Sequence
from dataclasses import replace

import torch

from headwise.features.encoded import Batch, batch_of
from headwise.features.encoded_pair import EncodedPair, comparisons


def batch_of_pairs(pairs: Sequence[EncodedPair], device: torch.device | str = "cpu") -> Batch:
    """Collate pairs to a batch of texts: all first texts, then all second texts."""
    batch = batch_of([*(pair.first for pair in pairs), *(pair.second for pair in pairs)], device)
    compared = comparisons(pairs)
    return batch if compared is None else replace(batch, compared=torch.from_numpy(compared).to(device))
