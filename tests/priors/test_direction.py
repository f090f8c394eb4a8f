"""Forward and backward heads: the text of MS-SAN wins over its Eq. 3."""

from headwise.priors import Backward, Forward


def test_forward_sees_itself_and_what_came_before(visible):
    assert visible(Forward(), 3) == [[True, False, False], [True, True, False], [True, True, True]]


def test_backward_sees_itself_and_what_follows(visible):
    assert visible(Backward(), 3) == [[True, True, True], [False, True, True], [False, False, True]]


def test_str():
    assert (str(Forward()), str(Backward())) == ("forward", "backward")
