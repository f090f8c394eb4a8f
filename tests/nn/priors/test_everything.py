"""No prior at all."""

import torch

from headwise.nn.priors import Everything, PositionPairs


def test_everything_is_seen_and_nothing_scored(visible):
    assert visible(Everything(), 2) == [[True, True], [True, True]]
    assert Everything().score(PositionPairs.of_length(2)) is None
    assert str(Everything()) == "everything"


def test_band_reaches_the_ends():
    band = Everything().band(torch.tensor([0, 1, 5]))
    assert band.left.tolist() == band.right.tolist() == [0, 0, 4]
    assert band.slope == 0
