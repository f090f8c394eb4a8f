"""Strategies and brute force shared by the tests of priors."""

import pytest
import torch
from hypothesis import strategies as st

from headwise.nn.priors import (
    AdaptiveSpan,
    Backward,
    Cope,
    Dilated,
    Earlier,
    Everything,
    Fire,
    Forgetting,
    Forward,
    Gaussian,
    GlobalTokens,
    Kerple,
    Later,
    LearnedPrior,
    LearnedSlope,
    PositionPairs,
    RandomBlocks,
    Rotary,
    Shaw,
    ShiftedWindow,
    Sum,
    T5Buckets,
    TransformerXL,
    TreeBuckets,
    TreeDistance,
    Window,
    WordDistance,
)

widths = st.integers(0, 9).map(lambda k: Window(width=2 * k + 1))
fractions = st.fractions(min_value="1/40", max_value=2, max_denominator=40).map(
    lambda f: Window(fraction=float(f))
)
distances = st.floats(-2, 2, allow_nan=False).map(WordDistance)
bands = st.one_of(
    st.sampled_from([Everything(), Forward(), Backward(), Earlier(), Later(), Window(width=1)]),
    *(widths, fractions, distances),
)
odd = st.none() | st.integers(0, 9).map(lambda k: 2 * k + 1)
unbanded = st.one_of(
    st.builds(TreeDistance, st.floats(-2, 2), st.just("word")),
    st.builds(Gaussian, st.floats(0.1, 9), st.floats(-2, 2)),
    st.builds(Dilated, st.integers(1, 5), odd),
    st.builds(Shaw, st.integers(0, 9), st.booleans()),
    st.builds(T5Buckets, st.sampled_from([4, 8, 32]), st.integers(9, 200)),
    st.builds(TreeBuckets, st.integers(1, 9), st.sampled_from(["error", "word"])),
    st.sampled_from([Rotary(), Rotary(100.0), TransformerXL()]),
    st.builds(ShiftedWindow, st.integers(0, 9).map(lambda k: 2 * k + 1)),
    st.builds(Kerple, st.sampled_from(["log", "power"])),
    st.builds(AdaptiveSpan, st.floats(0.1, 99), st.floats(0.1, 99)),
    st.builds(Fire, st.integers(1, 40)),
    st.builds(Cope, st.integers(1, 40)),
    st.sampled_from([LearnedSlope(), Forgetting()]),
    st.builds(RandomBlocks, st.integers(1, 5), st.integers(0, 3), st.integers(0, 2), st.integers(0, 9)),
)
simple = st.one_of(bands, unbanded)


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
        case ShiftedWindow():
            nearest = sorted(range(length), key=lambda k: (abs(k - query), k))
            inside = [k for k in nearest if abs(k - query) <= prior.width // 2]
            return key in inside or (key in nearest[: prior.width] and len(inside) < prior.width)
        case Earlier():
            return key < query
        case Later():
            return key > query
        case Dilated():
            half = length if prior.width is None else (prior.width - 1) / 2
            return abs(query - key) in [k * prior.step for k in range(length) if k * prior.step <= half]
        case RandomBlocks():
            nearby = abs(query // prior.size - key // prior.size) <= prior.neighbours
            return nearby or _drawn(prior, query // prior.size, key // prior.size, length)
        case GlobalTokens():
            return min(query, key) < prior.count or _sees(prior.inner, query, key, length)
        case Everything() | WordDistance() | TreeDistance() | Gaussian() | Rotary() | LearnedPrior():
            return True
    raise NotImplementedError(prior)


def _scored(prior, query: int, key: int) -> float:
    match prior:
        case Sum():
            return sum(_scored(part, query, key) for part in prior.parts)
        case WordDistance() | TreeDistance():  # without trees
            return -prior.alpha * abs(query - key)
        case Gaussian():
            return -abs((query - key) ** 2 / (2 * prior.sigma**2) + prior.offset)
        case GlobalTokens():
            return 0.0 if min(query, key) < prior.count else _scored(prior.inner, query, key)
    return 0.0


def _drawn(prior: RandomBlocks, block: int, second: int, length: int) -> bool:
    """Whether the lot falls on the block `other`: splitmix64 once more, with numbers of any size."""

    def mixed(number: int) -> int:
        number = (number + 0x9E3779B97F4A7C15) % 2**64
        number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        number = (number ^ number >> 27) * 0x94D049BB133111EB % 2**64
        return number ^ number >> 31

    def lot(k: int) -> int:
        number = mixed(mixed(mixed(mixed(prior.seed) + length) + block) + k)
        return number - 2**64 if number >= 2**63 else number

    far = [k for k in range(-(-length // prior.size)) if abs(k - block) > prior.neighbours]
    return second in sorted(far, key=lot)[: prior.count]


def _visible(prior, length: int) -> list[list[bool]]:
    return prior.visible(PositionPairs.of_length(length)).expand(length, length).tolist()


@pytest.fixture(scope="session")
def any_prior():
    """A strategy: every prior there is, alone or in sums (some of which hold sums)."""
    return _combined(simple)


@pytest.fixture(scope="session")
def any_band():
    """A strategy: every prior that compiles to a band, alone or in sums."""
    return _sums(bands)


def _sums(of):
    sums = st.lists(of, min_size=1, max_size=4).map(lambda parts: Sum(tuple(parts)))
    nested = st.lists(st.one_of(of, sums), min_size=1, max_size=3).map(lambda parts: Sum(tuple(parts)))
    return st.one_of(of, sums, nested)


def _combined(of):
    around = st.builds(GlobalTokens, _sums(of), st.integers(1, 3))
    return st.one_of(_sums(of), around, _sums(st.one_of(of, around)))


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
