"""Windows: their odd widths for texts of several lengths, and the borders."""

import pytest
import torch

from headwise.core.errors import ConfigError
from headwise.nn.priors import Window


@pytest.mark.parametrize(
    ("n", "omegas"),
    [  # for n/16, n/8, n/4 and n/2
        (5, (1, 1, 1, 3)),
        (11, (1, 1, 3, 5)),
        (19, (1, 3, 5, 9)),
        (22, (1, 3, 5, 11)),
        (109, (7, 13, 27, 55)),
        (201, (13, 25, 51, 101)),
    ],
)
def test_widths_of_parts_of_the_length(n, omegas):
    for part, omega in zip((16, 8, 4, 2), omegas, strict=True):
        assert 2 * Window(fraction=1 / part).half(torch.tensor([n])).item() + 1 == omega


@pytest.mark.parametrize(
    ("top", "bottom"), [(1, 2), (1, 3), (1, 16), (1, 41), (1, 47), (7, 10), (3, 11), (13, 17)]
)
def test_no_float_rounding(top, bottom):
    """7/10 of 20 is 14 exactly, though 0.7 is not a float."""
    n = torch.arange(0, 2000)
    half = Window(fraction=top / bottom).half(n)
    assert half.tolist() == [k * top // (2 * bottom) for k in range(2000)]


def test_a_window_is_cut_at_the_ends(visible):
    assert visible(Window(width=3), 4) == [
        [True, True, False, False],
        [True, True, True, False],
        [False, True, True, True],
        [False, False, True, True],
    ]


@pytest.mark.parametrize("width", [0, -1, 2, 4, 2.5, 3.0, "3"])
def test_impossible_widths(width):
    with pytest.raises(ConfigError, match="odd whole number"):
        Window(width=width)


@pytest.mark.parametrize("fraction", [0.0, -0.5, float("inf"), float("nan")])
def test_impossible_fractions(fraction):
    with pytest.raises(ConfigError, match="more than 0"):
        Window(fraction=fraction)


def test_one_of_the_two():
    with pytest.raises(ConfigError, match="either width= or fraction="):
        Window()
    with pytest.raises(ConfigError, match="either width= or fraction="):
        Window(width=3, fraction=0.5)


@pytest.mark.parametrize(
    ("window", "text"),
    [
        (Window(width=7), "window 7"),
        (Window(fraction=1 / 16), "window n/16"),
        (Window(fraction=0.75), "window 3n/4"),
        (Window(fraction=1.0), "window n"),
        (Window(fraction=2.0), "window 2n"),
    ],
)
def test_str(window, text):
    assert str(window) == text
