"""What holds for every prior, alone and in sums."""

import json

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headwise.core.errors import ConfigError
from headwise.nn.priors import (
    PRIORS,
    Dilated,
    Earlier,
    Everything,
    Forward,
    Gaussian,
    GlobalTokens,
    Later,
    PositionPairs,
    Prior,
    RandomBlocks,
    Rotary,
    Shaw,
    Sum,
    T5Buckets,
    TransformerXL,
    TreeBuckets,
    TreeDistance,
    Window,
    WordDistance,
    allocate_scales,
    from_json,
    parse_heads,
)
from headwise.nn.priors.notation import format_prior

fuzz = settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.too_slow])


def test_pairs_of_a_length():
    pairs = PositionPairs.of_length(3)
    assert pairs.query.tolist() == [[0], [1], [2]]
    assert pairs.key.tolist() == [[0, 1, 2]]
    assert pairs.length.tolist() == [[3]]


@fuzz
@given(st.data())
def test_visible_and_score_equal_brute_force(any_prior, sees, scored, data):
    prior, n = data.draw(any_prior), data.draw(st.integers(0, 20))
    pairs = PositionPairs.of_length(n)
    visible = prior.visible(pairs)
    assert visible.dtype == torch.bool
    assert visible.expand(n, n).tolist() == [[sees(prior, i, j, n) for j in range(n)] for i in range(n)]
    score = prior.score(pairs)
    expected = torch.tensor(
        [[scored(prior, i, j) for j in range(n)] for i in range(n)], dtype=torch.float64
    )
    got = torch.zeros((), dtype=torch.float64) if score is None else score.double()
    torch.testing.assert_close(got.expand(n, n), expected.view(n, n), rtol=1e-14, atol=1e-12)


@fuzz
@given(st.data())
def test_band_says_the_same_as_visible_and_score(any_band, visible, scored, lengths, data):
    prior = data.draw(any_band)
    band = prior.band(lengths)
    assert band is not None
    assert band.left.dtype == band.right.dtype == torch.int64
    for n, left, right in zip(lengths.tolist(), band.left.tolist(), band.right.tolist(), strict=True):
        assert -1 <= left <= max(n - 1, 0)
        assert -1 <= right <= max(n - 1, 0)
        assert visible(prior, n) == [[i - left <= j <= i + right for j in range(n)] for i in range(n)]
    far = max(lengths.tolist())
    for distance in range(far):
        assert -band.slope * distance == pytest.approx(scored(prior, 0, distance), abs=1e-9)


@fuzz
@given(st.data())
def test_batched_pairs_equal_single_ones(any_prior, visible, data):
    prior, sizes = data.draw(any_prior), data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=4))
    place = torch.arange(max(sizes))
    pairs = PositionPairs(place[None, :, None], place[None, None, :], torch.tensor(sizes)[:, None, None])
    batched = prior.visible(pairs).expand(len(sizes), max(sizes), max(sizes))
    for n, of_text in zip(sizes, batched, strict=True):
        assert of_text[:n, :n].tolist() == visible(prior, n)


@fuzz
@given(st.data())
def test_sees_self_and_is_identity_keep_their_word(any_prior, visible, data):
    prior, n = data.draw(any_prior), data.draw(st.integers(1, 12))
    rows = visible(prior, n)
    if prior.sees_self:
        assert all(rows[i][i] for i in range(n))
    if prior.is_identity:
        assert rows == [[i == j for j in range(n)] for i in range(n)]


@pytest.mark.parametrize(
    ("prior", "sees_self", "is_identity"),
    [
        (Everything(), True, False),
        (Forward(), True, False),
        (WordDistance(), True, False),
        (Window(width=1), True, True),
        (Window(width=3), True, False),
        (Window(fraction=1 / 16), True, False),
        (Window(width=1) + WordDistance(), True, True),
        (Forward() + Window(width=3), True, False),
        (Earlier(), False, False),
        (Dilated(2, 5), True, False),
        (Dilated(3, 5), True, True),
        (RandomBlocks(), True, False),
        (GlobalTokens(Window(width=1)), True, False),
        (GlobalTokens(Later()), False, False),
        (Shaw(), True, False),
        (Window(width=1) + Rotary(), True, True),
        (Window(width=1) + Shaw(), True, False),  # it may add to the value
    ],
)
def test_sees_self_and_is_identity(prior, sees_self, is_identity):
    assert (prior.sees_self, prior.is_identity) == (sees_self, is_identity)


def test_a_prior_that_says_nothing_of_itself_is_not_trusted_to_see_itself():
    class Before(Prior):
        name = "before"

        def visible(self, pairs):
            return pairs.key < pairs.query

    class Scored(Prior):
        name = "scored"

    assert not Before().sees_self
    assert Scored().sees_self
    assert not (Before() + Window(width=1)).is_identity
    assert not (Before() + Window(width=1)).sees_self
    assert Before().band(torch.tensor([3])) is None
    assert (Before() + Forward()).band(torch.tensor([3])) is None


@pytest.mark.parametrize("wrap", [lambda p: p, lambda p: Forward() + p, GlobalTokens])
def test_who_uses_trees(wrap):
    uses = {
        TreeDistance(): "error",
        TreeDistance(1.0, "word"): "word",
        TreeBuckets(): "error",
        Shaw(): "none",
    }
    assert {prior: wrap(prior).tree_use for prior in uses} == uses
    assert (TreeBuckets() + wrap(TreeDistance(1.0, "word"))).tree_use == "error"


def test_bias_is_the_score_where_visible():
    inf = float("inf")
    prior = Forward() + WordDistance(0.5)
    assert prior.bias(PositionPairs.of_length(3)).tolist() == [
        [0, -inf, -inf],
        [-0.5, 0, -inf],
        [-1, -0.5, 0],
    ]
    assert prior.bias(PositionPairs.of_length(3)).dtype == torch.float32
    window = Window(width=1).bias(PositionPairs.of_length(2), torch.float64)
    assert window.tolist() == [[0, -inf], [-inf, 0]]
    assert window.dtype == torch.float64
    assert Everything().bias(PositionPairs.of_length(2)).expand(2, 2).tolist() == [[0, 0], [0, 0]]


def test_what_is_learned_and_turned_is_found_inside_of_others():
    prior = Forward() + GlobalTokens(Shaw(3) + Rotary() + Window(width=3)) + TransformerXL() + Shaw(3)
    assert prior.learned == (Shaw(3), TransformerXL())
    assert (Forward() + Rotary()).learned == ()
    rows, place = torch.randn(4, 6), torch.arange(4)
    assert torch.equal(prior.rotate(rows, place), Rotary().rotate(rows, place))
    assert Forward().rotate(rows, place) is rows


def test_adding():
    forward, nearby, far = Forward(), Window(width=3), WordDistance(2.0)
    assert (forward + nearby) + far == forward + (nearby + far) == Sum((forward, nearby, far))
    assert str(forward + nearby + far) == "forward + window 3 + word distance 2"
    with pytest.raises(TypeError):
        forward + 1  # type: ignore[operator]
    with pytest.raises(ConfigError, match="at least one prior"):
        Sum(())
    with pytest.raises(ConfigError, match=r"consists of priors, got \(3,\)"):
        Sum((3,))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "made",
    [
        lambda: Window(True),
        lambda: Window(fraction="n/4"),
        lambda: WordDistance("1"),
        lambda: WordDistance(float("nan")),
        lambda: WordDistance(10**400),
        lambda: TreeDistance(None),
        lambda: Gaussian(None),
        lambda: Rotary("x"),
        lambda: allocate_scales(1, 3, 4, [True], 0.5),
        lambda: parse_heads(None, 2),
        lambda: parse_heads("forward", -2),
    ],
)
def test_values_of_the_wrong_type(made):
    with pytest.raises(ConfigError):
        made()


@fuzz
@given(st.data())
def test_json_round_trip(any_prior, data):
    prior = data.draw(any_prior)
    again = from_json(json.loads(json.dumps(prior.to_json())))
    assert again == prior
    assert hash(again) == hash(prior)
    assert str(again) == str(prior)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "unknown prior None; expected one of everything, window"),
        ({"prior": "windw"}, "unknown prior 'windw'"),
        ({"prior": ["forward"]}, "unknown prior"),
        ("forward", "described by an object"),
        ({"prior": "forward", "width": 3}, "cannot be made from"),
        ({"prior": "window"}, "either width= or fraction="),
        ({"prior": "window", "width": 3, "fraction": 0.5}, "either width= or fraction="),
        ({"prior": "window", "width": "3"}, "odd whole number"),
        ({"prior": "window", "fraction": "1/3"}, "more than 0 .* got '1/3'"),
        ({"prior": "word-distance", "alpha": None}, "a finite number, at most"),
        ({"prior": "sum"}, "at least one prior"),
        ({"prior": "sum", "parts": 3}, "cannot be made from"),
        ({"prior": "sum", "parts": ["forward"]}, "described by an object"),
        ({"prior": "sum", "parts": [{"prior": "forward"}], "more": 1}, "cannot be made from"),
        ({"prior": "gaussian"}, "cannot be made from"),
        ({"prior": "gaussian", "sigma": 0}, "more than 0"),
        ({"prior": "gaussian", "sigma": 1, "offset": float("nan")}, "finite"),
        ({"prior": "dilated", "step": 2.0}, "step must be a whole number, at least 1"),
        ({"prior": "dilated", "step": 0}, "at least 1, got 0"),
        ({"prior": "dilated", "step": 1, "width": 4}, "must be odd"),
        ({"prior": "random-blocks", "size": 0}, "size must be"),
        ({"prior": "random-blocks", "seed": "1"}, "seed must be"),
        ({"prior": "rotary", "base": 1.0}, "more than 1"),
        ({"prior": "shaw", "span": -1}, "span must be a whole number, at least 0"),
        ({"prior": "shaw", "values": "no"}, "true or false"),
        ({"prior": "t5-buckets", "buckets": 6}, "multiple of 4"),
        ({"prior": "t5-buckets", "buckets": 32, "furthest": 8}, "furthest must be .* at least 9"),
        ({"prior": "tree-buckets", "furthest": 0}, "at least 1"),
        ({"prior": "tree-buckets", "fallback": "words"}, "'error' or 'word'"),
        ({"prior": "global-tokens"}, "unknown prior None"),
        ({"prior": "global-tokens", "inner": "forward"}, "described by an object"),
        ({"prior": "global-tokens", "inner": {"prior": "forward"}, "count": 0}, "count must be"),
    ],
)
def test_json_errors(data, message):
    with pytest.raises(ConfigError, match=message):
        from_json(data)


@pytest.mark.parametrize(
    ("prior", "expected"),
    [
        (Window(width=np.int64(3)), Window(width=3)),
        (Window(fraction=np.float64(0.25)), Window(fraction=0.25)),
        (WordDistance(np.float32(0.5)), WordDistance(0.5)),
        (WordDistance(np.int32(2)), WordDistance(2)),
        (Dilated(np.int16(2), np.uint8(5)), Dilated(2, 5)),
        (RandomBlocks(np.int64(4), seed=np.int64(7)), RandomBlocks(4, seed=7)),
        (T5Buckets(np.int64(8), np.int64(64)), T5Buckets(8, 64)),
    ],
)
def test_numbers_of_numpy_are_numbers(prior, expected):
    """They are kept as Python's, so that nobody can tell them apart."""
    assert prior == expected
    assert hash(prior) == hash(expected)
    assert repr(prior) == repr(expected)
    assert json.dumps(prior.to_json()) == json.dumps(expected.to_json())
    assert format_prior(prior) == format_prior(expected)


@pytest.mark.parametrize("make", [WordDistance, lambda width: Window(width=width), Dilated])
@pytest.mark.parametrize("truth", [True, np.True_])
def test_truth_values_are_no_numbers(make, truth):
    with pytest.raises(ConfigError, match="number"):
        make(truth)


def test_every_prior_is_listed_under_its_name():
    assert {name: prior.name for name, prior in PRIORS.items()} == {name: name for name in PRIORS}
