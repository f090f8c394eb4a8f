"""The bell around a position."""

import pytest
import torch

from headwise.nn.priors import Gaussian, PositionPairs


def test_weights_are_the_density_of_a_normal_distribution():
    score = Gaussian(2.0).score(PositionPairs.of_length(9))
    density = torch.distributions.Normal(4.0, 2.0).log_prob(torch.arange(9.0)).double()
    torch.testing.assert_close(score[4].softmax(-1), density.softmax(-1), rtol=1e-6, atol=0)
    assert score.dtype == torch.float64


def test_score_is_exact():
    assert Gaussian(1.0).score(PositionPairs.of_length(4))[0].tolist() == [0, -0.5, -2, -4.5]


def test_a_negative_offset_moves_the_top_of_the_bell():
    """w = 1/2, b = -2: the top is where d^2 / 2 = 2."""
    score = Gaussian(1.0, offset=-2.0).score(PositionPairs.of_length(5))[0]
    assert score.tolist() == [-2, -1.5, 0, -2.5, -6]


def test_a_positive_offset_changes_no_weight():
    pairs = PositionPairs.of_length(5)
    weights = [Gaussian(1.5, offset).score(pairs).softmax(-1) for offset in (0.0, 3.0)]
    torch.testing.assert_close(*weights)


@pytest.mark.parametrize(
    ("prior", "text"), [(Gaussian(2.0), "gaussian 2"), (Gaussian(0.5, -1.0), "gaussian 0.5 offset -1")]
)
def test_str(prior, text):
    assert str(prior) == text
