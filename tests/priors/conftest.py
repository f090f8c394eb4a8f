"""Strategies and brute force shared by the tests of priors."""

import pytest
import torch
from hypothesis import strategies as st

from headwise.priors import (
    Backward,
    Everything,
    Forward,
    Pairs,
    Sum,
    Window,
    WordDistance,
)

widths = st.integers(0, 9).map(lambda k: Window(width=2 * k + 1))
fractions = st.fractions(min_value="1/40", max_value=3, max_denominator=40).map(
    lambda f: Window(fraction=float(f))
)
distances = st.floats(-2, 2, allow_nan=False).map(WordDistance)
simple = st.one_of(
    st.sampled_from([Everything(), Forward(), Backward(), Window(width=1)]), widths, fractions, distances
)


def _sees(prior, query: int, key: int, length: int) -> bool:
    """Who may see whom, one pair at a time, written once more from the papers."""
    match prior:
        case Sum():
            return all(_sees(part, query, key, length) for part in prior.parts)
        case Forward():
            return key <= query
        case Backward():
            return key >= query
        case Window(width=None):
            assert prior.fraction is not None
            width = 1  # the largest odd number not above n * fraction + 1
            while width + 2 <= length * prior.fraction + 1 + 1e-9:
                width += 2
            return abs(query - key) <= (width - 1) // 2
        case Window():
            return abs(query - key) <= (prior.width - 1) // 2
        case Everything() | WordDistance():
            return True
    raise NotImplementedError(prior)


def _scored(prior, query: int, key: int) -> float:
    if isinstance(prior, Sum):
        return sum(_scored(part, query, key) for part in prior.parts)
    return -prior.alpha * abs(query - key) if isinstance(prior, WordDistance) else 0.0


def _visible(prior, length: int) -> list[list[bool]]:
    return prior.visible(Pairs.of_length(length)).expand(length, length).tolist()


@pytest.fixture(scope="session")
def any_prior():
    """A strategy: every prior there is, alone or in sums (some of which hold sums)."""
    sums = st.lists(simple, min_size=1, max_size=4).map(lambda parts: Sum(tuple(parts)))
    nested = st.lists(st.one_of(simple, sums), min_size=1, max_size=3).map(lambda parts: Sum(tuple(parts)))
    return st.one_of(simple, sums, nested)


@pytest.fixture(scope="session")
def sees():
    """`sees(prior, query, key, length)`, written independently of the code."""
    return _sees


@pytest.fixture(scope="session")
def scored():
    """`scored(prior, query, key)`, written independently of the code."""
    return _scored


@pytest.fixture(scope="session")
def visible():
    """`visible(prior, length)`: the prior's own answer as a list of rows."""
    return _visible


@pytest.fixture(scope="session")
def lengths():
    """Every length from nothing to some."""
    return torch.arange(0, 14)
