"""Distance between words as a penalty."""

import pytest
import torch

from headwise.core.errors import ConfigError
from headwise.nn.priors import PositionPairs, WordDistance


def test_score_falls_with_distance_on_both_sides():
    score = WordDistance(0.5).score(PositionPairs.of_length(3))
    assert score.tolist() == [[0, -0.5, -1], [-0.5, 0, -0.5], [-1, -0.5, 0]]


def test_score_is_exact_in_float64():
    assert WordDistance(0.3).score(PositionPairs.of_length(2))[0, 1].item() == -0.3


def test_negative_alpha_prefers_what_is_far():
    band = WordDistance(-2.0).band(torch.tensor([4]))
    assert (band.left.item(), band.right.item(), band.slope) == (3, 3, -2.0)


@pytest.mark.parametrize("alpha", [float("inf"), float("-inf"), float("nan")])
def test_alpha_must_be_finite(alpha):
    with pytest.raises(ConfigError, match="finite"):
        WordDistance(alpha)


def test_str():
    assert str(WordDistance(1.0)) == "word distance 1"
    assert str(WordDistance(0.25)) == "word distance 0.25"


@pytest.mark.parametrize("alpha", [1.1e30, -1e39, 1e308])
def test_alpha_must_leave_products_with_distances_finite(alpha):
    with pytest.raises(ConfigError, match="a finite number, at most"):
        WordDistance(alpha)
