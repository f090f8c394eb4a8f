"""Nodes that see all and are seen by all."""

import pytest

from headwise.core.errors import ConfigError
from headwise.nn.priors import (
    Earlier,
    Everything,
    Forward,
    GlobalTokens,
    PositionPairs,
    Window,
    WordDistance,
)


def test_a_global_node_in_front(visible):
    rows = ["xxxxx", "xxx..", "xxxx.", "x.xxx", "x..xx"]
    assert visible(GlobalTokens(Window(width=3)), 5) == [[cell == "x" for cell in row] for row in rows]


def test_two_of_them(visible):
    rows = ["xxxx", "xxxx", "xxx.", "xx.x"]
    assert visible(GlobalTokens(Window(width=1), 2), 4) == [[cell == "x" for cell in row] for row in rows]


def test_a_text_shorter_than_the_global_nodes(visible):
    assert visible(GlobalTokens(Window(width=1), 5), 3) == [[True] * 3] * 3


def test_no_penalty_to_or_from_a_global_node():
    score = GlobalTokens(WordDistance(0.5)).score(PositionPairs.of_length(4))
    assert score.tolist() == [[0, 0, 0, 0], [0, 0, -0.5, -1], [0, -0.5, 0, -0.5], [0, -1, -0.5, 0]]
    assert GlobalTokens(Forward()).score(PositionPairs.of_length(4)) is None


def test_nobody_is_left_without_a_key(visible):
    assert visible(GlobalTokens(Earlier()), 3)[0] == [True, True, True]


def test_everything_stays_everything(visible):
    assert visible(GlobalTokens(Everything()), 4) == visible(Everything(), 4)


def test_json_and_str():
    prior = GlobalTokens(Forward() + Window(width=5), 2)
    assert prior.to_json() == {
        "prior": "global-tokens",
        "inner": {"prior": "sum", "parts": [{"prior": "forward"}, {"prior": "window", "width": 5}]},
        "count": 2,
    }
    assert str(prior) == "global 2 (forward + window 5)"


def test_errors():
    with pytest.raises(ConfigError, match="around another prior, got 3"):
        GlobalTokens(3)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="count must be a whole number, at least 1, got 0"):
        GlobalTokens(Forward(), 0)
