"""Batches for the tests of encoders."""

import pytest
import torch

from headwise.ragged import Ragged


def _words(lengths, width, dtype=torch.float64, seed=0) -> Ragged:
    random = torch.Generator().manual_seed(seed)
    values = torch.randn(sum(lengths), width, generator=random, dtype=torch.float64)
    return Ragged.from_lengths(values.to(dtype), lengths)


@pytest.fixture(scope="session")
def words():
    """`words(lengths, width, dtype, seed)`: random word vectors as a batch."""
    return _words
