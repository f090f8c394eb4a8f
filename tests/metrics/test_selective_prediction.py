"""Selective prediction: confidence thresholds, against a count over all items."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwise.core.errors import ConfigError
from headwise.metrics.operating_points import MIN_ITEMS, RiskCoverageCurve, confidence_threshold

ITEMS = st.lists(
    st.tuples(st.sampled_from([0.3, 0.5, 0.6, 0.8, 0.95]), st.booleans()), min_size=1, max_size=40
)


@given(ITEMS, st.sampled_from([0.5, 0.75, 0.9, 1.0]))
def test_the_least_probability_is_that_of_a_count(items, precision):
    """Of the items, and of these with ten more that are right as often as the probabilities say."""
    sure, right = (np.array(column) for column in zip(*items, strict=True))
    curve, good = RiskCoverageCurve.of(sure, right, len(items)), []
    for least in set(sure):
        answered = sure >= least
        both = (right[answered].sum() + 10 * sure[answered].mean()) / (answered.sum() + 10)
        if answered.sum() >= MIN_ITEMS and min(right[answered].mean(), both) >= precision - 1e-12:
            good.append(least)
    place = curve.least(precision - 1e-12)
    assert (None if place is None else curve.probability[place]) == (min(good) if good else None)


@given(ITEMS)
def test_saved_is_read(items):
    sure, right = (np.array(column) for column in zip(*items, strict=True))
    curve = RiskCoverageCurve.of(sure, right)
    again = RiskCoverageCurve.from_json(curve.to_json())
    assert again is not None
    assert again.to_json() == curve.to_json()
    assert curve.answered[-1] == len(items)
    assert curve.right[-1] == right.sum()


def test_of_many_items_some_places_are_kept():
    sure = np.linspace(0.5, 1.0, 5_000)
    curve = RiskCoverageCurve.of(sure, np.arange(5_000) % 5_000 > 2_000)
    assert len(curve.answered) == 100
    assert curve.answered[-1] == 5_000
    assert curve.probability[0] == 1.0


@pytest.mark.parametrize(
    "stored", [None, [], {}, {"probability": [1]}, {"probability": "x", "answered": 1, "right": 2}]
)
def test_what_a_folder_says_is_not_believed(stored):
    assert RiskCoverageCurve.from_json(stored) is None
    with pytest.raises(ConfigError, match="train a new model"):
        confidence_threshold("precision=0.9", stored)


def test_what_is_asked():
    stored = RiskCoverageCurve.of(np.linspace(1, 0.5, 20), np.arange(20) < 10).to_json()
    assert confidence_threshold("0.9", None) == 0.9
    assert confidence_threshold("precision=0.8", stored) == pytest.approx(stored["probability"][11])
    modest = RiskCoverageCurve.of(np.linspace(0.6, 0.5, 20), np.arange(20) < 10).to_json()
    with pytest.raises(ConfigError, match=r"78\.8 % is expected"):  # of ten, and ten more of which 58 %
        confidence_threshold("precision=0.8", modest)
    for wrong in ("0", "1.2", "nan", "recall=0.9", "often"):
        with pytest.raises(ConfigError, match="expected a probability"):
            confidence_threshold(wrong, stored)
    bad = RiskCoverageCurve.of(np.linspace(1, 0.5, 20), np.arange(20) % 2 > 0).to_json()
    with pytest.raises(ConfigError, match="ask for less"):
        confidence_threshold("precision=0.9", bad)


def test_what_is_expected_is_not_rounded_up_to_what_was_asked():
    sure = RiskCoverageCurve.of(np.full(50, 0.9999), np.ones(50, dtype=bool)).to_json()
    with pytest.raises(ConfigError, match=r" 99\.9 % is expected"):
        confidence_threshold("precision=1", sure)


def test_of_coin_flips_no_share_is_promised():
    """Of the first few three in four are soon right, and the probabilities say that it was chance."""
    chance = np.random.default_rng(0)
    draws = [
        RiskCoverageCurve.of(0.5 + np.abs(chance.normal(0, 0.03, 100)), chance.random(100) < 0.5)
        for _ in range(300)
    ]
    plain = [(curve.precision[curve.answered >= MIN_ITEMS] >= 0.75).any() for curve in draws]
    assert np.mean(plain) > 0.15
    assert np.mean([curve.least(0.75) is not None for curve in draws]) < 0.03
