"""ALiBi's slopes and sides."""

from itertools import pairwise

import pytest
import torch

from headwise.core.errors import ConfigError
from headwise.nn.priors import Backward, Forward, PositionPairs, WordDistance, alibi


def test_slopes_of_eight_heads():
    assert alibi(8) == tuple(WordDistance(2.0**-h) for h in range(1, 9))


def test_slopes_are_a_geometric_series_for_every_number_of_heads():
    slopes = [prior.band(torch.tensor([4])).slope for prior in alibi(10)]
    ratios = [b / a for a, b in pairwise(slopes)]
    assert ratios == pytest.approx([2**-0.8] * 9)
    assert slopes[0] == pytest.approx(2**-0.8)
    assert slopes[-1] == 2**-8


def test_sides():
    nearby, far = WordDistance(2.0**-4), WordDistance(2.0**-8)
    assert alibi(2, "left") == (Forward() + nearby, Forward() + far)
    assert alibi(2, "right") == (Backward() + nearby, Backward() + far)
    assert alibi(4, "halves") == (*alibi(2, "left"), *alibi(2, "right"))


def test_every_head_compiles_to_a_band():
    lengths = torch.tensor([5])
    reaches = {"both": (4, 4), "left": (4, 0), "right": (0, 4)}
    for sided, (left, right) in reaches.items():
        for head, prior in enumerate(alibi(4, sided), start=1):
            band = prior.band(lengths)
            assert (band.left.item(), band.right.item()) == (left, right)
            assert band.slope == 2.0 ** (-2 * head)


def test_the_causal_form_of_the_paper():
    """Adding `slope * key` to a causal head is the same: rows differ by a constant."""
    for prior in alibi(3, "left"):
        pairs = PositionPairs.of_length(6)
        bias = prior.bias(pairs, torch.float64)
        slope = prior.band(torch.tensor([6])).slope
        second = torch.where(pairs.key <= pairs.query, slope * pairs.key, float("-inf")).double()
        torch.testing.assert_close(bias.softmax(-1), second.softmax(-1))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((0,), "at least one head"), ((3, "halves"), "even number"), ((4, "top"), "got 'top'")],
)
def test_errors(arguments, message):
    with pytest.raises(ConfigError, match=message):
        alibi(*arguments)
