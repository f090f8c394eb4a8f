"""Distance in the dependency tree as a penalty."""

import pytest
import torch

from headwise.core.errors import ConfigError, HeadwiseError
from headwise.nn.priors import Forward, PositionPairs, TreeDistance, WordDistance, from_json

TREE = torch.tensor([[0, 2, 1], [2, 0, 1], [1, 1, 0]], dtype=torch.int16)
PARSED, PLAIN = PositionPairs.of_length(3, tree=TREE), PositionPairs.of_length(3)


def test_score_falls_with_the_distance_in_the_tree():
    score = TreeDistance(0.3).score(PARSED)
    assert score.dtype == torch.float64
    assert score.tolist() == [[0, -0.6, -0.3], [-0.6, 0, -0.3], [-0.3, -0.3, 0]]


def test_every_word_is_visible():
    prior = TreeDistance()
    assert prior.visible(PARSED).all()
    assert prior.sees_self
    assert not prior.is_identity


@pytest.mark.parametrize("tree", [None, TREE])
def test_it_is_no_band(tree):
    assert TreeDistance(fallback="word").band(torch.tensor([3])) is None


def test_without_trees_it_says_how_to_get_them():
    for prior in (TreeDistance(), Forward() + TreeDistance()):
        with pytest.raises(HeadwiseError, match=r"read_parses.*Layout.*fallback 'word'") as error:
            prior.score(PLAIN)
        assert error.value.code == "HW310"


def test_fallback_is_the_word_distance_only_where_there_are_no_trees():
    prior = TreeDistance(0.7, fallback="word")
    assert torch.equal(prior.score(PLAIN), WordDistance(0.7).score(PLAIN))
    assert torch.equal(prior.score(PARSED), TreeDistance(0.7).score(PARSED))


@pytest.mark.parametrize("alpha", [float("inf"), float("nan")])
def test_alpha_must_be_finite(alpha):
    with pytest.raises(ConfigError, match="finite"):
        TreeDistance(alpha)


def test_fallback_must_be_known():
    with pytest.raises(ConfigError, match="'error' or 'word', got 'words'"):
        TreeDistance(fallback="words")  # type: ignore[arg-type]


def test_json_round_trip():
    for prior in (TreeDistance(0.25), TreeDistance(2.0, "word"), Forward() + TreeDistance()):
        assert from_json(prior.to_json()) == prior


def test_str():
    assert str(Forward() + TreeDistance(0.25)) == "forward + tree distance 0.25"
