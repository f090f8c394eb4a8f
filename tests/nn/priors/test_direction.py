"""Forward and backward heads: the text of MS-SAN wins over its Eq. 3."""

from headwise.nn.priors import Backward, Earlier, Forward, Later


def test_forward_sees_itself_and_what_came_before(visible):
    assert visible(Forward(), 3) == [[True, False, False], [True, True, False], [True, True, True]]


def test_backward_sees_itself_and_what_follows(visible):
    assert visible(Backward(), 3) == [[True, True, True], [False, True, True], [False, False, True]]


def test_earlier_and_later_leave_the_own_position_out(visible):
    assert visible(Earlier(), 3) == [[False, False, False], [True, False, False], [True, True, False]]
    assert visible(Later(), 3) == [[False, True, True], [False, False, True], [False, False, False]]


def test_str():
    assert (str(Forward()), str(Backward())) == ("forward", "backward")
    assert (str(Earlier()), str(Later())) == ("earlier", "later")
