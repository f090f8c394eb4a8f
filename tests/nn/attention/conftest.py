"""Priors that nobody needs but every implementation must survive, and inputs for the tests of attention."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import ClassVar

import pytest
import torch

from headwise.nn.priors import Prior


@dataclass(frozen=True)
class Nothing(Prior):
    """Sees nothing at all, and does not look at the query to say so."""

    name: ClassVar[str] = "nothing"

    def visible(self, pairs):
        return torch.zeros_like(pairs.key, dtype=torch.bool)


@dataclass(frozen=True)
class SecondKey(Prior):
    """Every query sees the key 1 alone, so that texts of one row see nothing."""

    name: ClassVar[str] = "second-key"

    def visible(self, pairs):
        return pairs.key == 1


@dataclass(frozen=True)
class LongTexts(Prior):
    """All or nothing by the text's length, without a look at query and key; scores fall with the key."""

    name: ClassVar[str] = "long-texts"

    def visible(self, pairs):
        return pairs.length > 3

    def score(self, pairs):
        return -0.1 * pairs.key


def _inputs(lengths, heads, size, dtype=torch.float64, seed=0, value_size=None):
    random = torch.Generator().manual_seed(seed)
    shapes = [(sum(lengths), heads, n) for n in (size, size, value_size or size)]
    return [torch.randn(*shape, generator=random, dtype=torch.float64).to(dtype) for shape in shapes]


@pytest.fixture(scope="session")
def inputs():
    """`inputs(lengths, heads, size, dtype, seed, value_size) -> [query, key, value]`."""
    return _inputs


@pytest.fixture(scope="session")
def odd():
    """The priors of this file by name."""
    return SimpleNamespace(Nothing=Nothing, SecondKey=SecondKey, LongTexts=LongTexts)
