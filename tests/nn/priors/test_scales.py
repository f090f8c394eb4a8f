"""Heads per scale (MS-Trans, Eq. 11-12): tables worked out from the paper's rule, and what always holds."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.core.errors import ConfigError
from headwise.nn.priors import Forward, Window, allocate_scales, head_counts, parse_scale

SCALES = ("1", "3", "n/16", "n/8", "n/4")


@pytest.mark.parametrize(
    ("heads", "alpha", "layers"),
    [
        (10, 1.0, "72100 52210 22222"),
        (10, 0.5, "52210 42211 22222"),
        (10, 0.0, "22222 22222 22222"),
        (10, -0.5, "11224 21223 22222"),
        (10, -1.0, "10126 11224 22222"),
        (5, 1.0, "41000 31100 11111"),
        (5, 0.5, "31100 21110 11111"),
        (5, 0.0, "11111 11111 11111"),
        (5, -0.5, "10112 11111 11111"),
        (5, -1.0, "10013 10112 11111"),
    ],
)
def test_head_counts_of_three_layers_and_five_scales(heads, alpha, layers):
    counts = [head_counts(layer, 3, heads, 5, alpha) for layer in (1, 2, 3)]
    assert " ".join("".join(map(str, c)) for c in counts) == layers


def test_deeper_stacks_need_not_fall_from_scale_to_scale():
    assert head_counts(3, 4, 10, 5, 0.5) == [3, 3, 1, 2, 1]


def test_the_epsilon_trap():
    """Floats put what is whole just above it: the ceiling of 6.000000000000001 is 7."""
    share = 1 / 5
    assert (share + share + share) * 10 > 6
    assert head_counts(3, 3, 10, 5, 0.5) == [2, 2, 2, 2, 2]
    # Weights 1, 1/5 and 1/25 of 31 heads: 25, 5 and 1; in floats the first is 25.000000000000004.
    weights = [math.exp(-k * math.log(5)) for k in range(3)]
    assert weights[0] / sum(weights) * 31 > 25
    assert head_counts(1, 2, 31, 3, math.log(5)) == [25, 5, 1]


@settings(deadline=None, max_examples=150)
@given(
    st.integers(1, 12).flatmap(lambda layers: st.tuples(st.integers(1, layers), st.just(layers))),
    st.integers(1, 64),
    st.integers(1, 12),
    st.floats(-1e6, 1e6, allow_nan=False) | st.floats(-3, 3, allow_nan=False),
)
def test_counts_for_all_settings(depth, heads, scales, alpha):
    layer, layers = depth
    counts = head_counts(layer, layers, heads, scales, alpha)
    assert len(counts) == scales
    assert sum(counts) == heads
    assert min(counts) >= 0
    assert counts[0] >= 1  # the rule leans to the smallest scale
    if layer == layers or alpha == 0:
        assert max(counts) - min(counts) <= 1  # uniform as far as whole heads can be
        if heads % scales == 0:
            assert set(counts) == {heads // scales}
    # Eq. 11-12 once more: no running sum is below the real one, and none is more than a head above it.
    z = [0.0 if layer == layers else (scales - 1 - k) * alpha / layer for k in range(scales)]
    weights = [math.exp(value - max(z)) for value in z]
    for k in range(scales):
        exact = math.fsum(weights[: k + 1]) / math.fsum(weights) * heads
        assert exact - 1e-6 <= sum(counts[: k + 1]) <= exact + 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 3, 10, 5, 0.5), "layer must be between 1 and 3, got 0"),
        ((4, 3, 10, 5, 0.5), "layer must be between 1 and 3, got 4"),
        ((1, 3, 0, 5, 0.5), "at least one head"),
        ((1, 3, 10, 0, 0.5), "one scale"),
        ((1, 3, 10, 5, math.nan), "finite"),
        ((1, 3, 10, 5, math.inf), "finite"),
    ],
)
def test_head_counts_errors(arguments, message):
    with pytest.raises(ConfigError, match=message):
        head_counts(*arguments)


def test_allocate_scales_gives_a_prior_to_every_head():
    priors = allocate_scales(1, 3, 10, SCALES, 0.5)
    assert [str(prior) for prior in priors] == (
        ["window 1"] * 5 + ["window 3"] * 2 + ["window n/16"] * 2 + ["window n/8"]
    )
    assert len(allocate_scales(3, 3, 10, SCALES, 0.5)) == 10
    with pytest.raises(ConfigError, match="one scale"):
        allocate_scales(1, 1, 2, (), 0.5)


@pytest.mark.parametrize(
    ("scale", "prior"),
    [
        (3, Window(width=3)),
        ("3", Window(width=3)),
        (" 7 ", Window(width=7)),
        ("n/16", Window(fraction=1 / 16)),
        ("N/3", Window(fraction=1 / 3)),
        ("n", Window(fraction=1.0)),
        (0.25, Window(fraction=0.25)),
        (np.int64(3), Window(width=3)),
        (np.float32(0.25), Window(fraction=0.25)),
        ("1/4", Window(fraction=0.25)),
        ("0.25", Window(fraction=0.25)),
        (Forward(), Forward()),
    ],
)
def test_parse_scale(scale, prior):
    assert parse_scale(scale) == prior


@pytest.mark.parametrize(
    "scale",
    [
        "",
        "x",
        "n16",
        "n.5",
        "ne2",
        "n/",
        "n/0",
        "n/-4",
        "n/x",
        "nan",
        "inf",
        "1e999",
        "-3",
        "0",
        "4",
        2,
        0,
        -1.0,
        math.nan,
        math.inf,
    ],
)
def test_parse_scale_errors(scale):
    with pytest.raises(ConfigError):
        parse_scale(scale)
