"""Windows with gaps."""

from headwise.nn.priors import Dilated, Window


def test_every_second_position(visible):
    rows = ["x.x..", ".x.x.", "x.x.x", ".x.x.", "..x.x"]
    assert visible(Dilated(2, 5), 5) == [[cell == "x" for cell in row] for row in rows]


def test_without_a_width_it_spans_the_text(visible):
    assert visible(Dilated(3), 8)[0] == [k % 3 == 0 for k in range(8)]


def test_step_1_is_a_window(visible):
    assert visible(Dilated(1, 5), 9) == visible(Window(width=5), 9)


def test_a_window_on_the_same_head_cuts_it(visible):
    prior = Dilated(2) + Window(fraction=1 / 2)
    assert visible(prior, 8)[4] == [k in (2, 4, 6) for k in range(8)]
    assert visible(prior, 16)[8] == [k in (4, 6, 8, 10, 12) for k in range(16)]


def test_str():
    assert (str(Dilated(2)), str(Dilated(3, 13))) == ("dilated 2", "dilated 3 width 13")
