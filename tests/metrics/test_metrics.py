"""Scores against plain counting, intervals against known figures."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from headwise.metrics.classification_scores import (
    compare_labels,
    mean_loss,
    score_labels,
    weighted_rates,
    wilson_interval,
)

pairs = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40)


@settings(max_examples=60, deadline=None)
@given(pairs)
def test_scores_by_counting(rows):
    predicted, targets = (np.array(column) for column in zip(*rows, strict=True))
    scores = score_labels(predicted, targets, ["a", "b", "c", "d"])
    assert scores.accuracy == sum(p == t for p, t in rows) / len(rows)
    f1s = []
    for n, label in enumerate(scores.labels):
        right = sum(p == t == n for p, t in rows)
        predictions, there = sum(p == n for p, _ in rows), sum(t == n for _, t in rows)
        assert label.texts == there
        assert label.precision == pytest.approx(right / predictions if predictions else 0)
        assert label.recall == pytest.approx(right / there if there else 0)
        if predictions or there:
            f1s.append(2 * right / (predictions + there))
        for m in range(4):
            assert scores.confusion[n][m] == sum(t == n and p == m for p, t in rows)
    assert scores.macro_f1 == pytest.approx(np.mean(f1s))


@settings(max_examples=60, deadline=None)
@given(pairs, st.data())
def test_a_weight_is_a_number_of_copies(rows, data):
    weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows))))
    weights[0] += not weights.any()
    predicted, targets = (np.array(column) for column in zip(*rows, strict=True))
    copies = score_labels(predicted.repeat(weights), targets.repeat(weights), ["a", "b", "c", "d"])
    for scale in (1.0, 0.1):
        rates = weighted_rates(predicted, targets, 4, scale * weights)
        assert rates == pytest.approx((copies.accuracy, copies.macro_f1))


def test_no_texts():
    with pytest.raises(ValueError, match="no texts"):
        score_labels(np.zeros(0, int), np.zeros(0, int), ["a", "b"])


@pytest.mark.parametrize("right", [0, 1, 7, 19, 20])
def test_intervals_and_mcnemars_test_are_those_of_scipy(right):
    interval = binomtest(right, 20).proportion_ci(0.95, method="wilson")
    assert wilson_interval(right, 20) == pytest.approx((interval.low, interval.high), abs=1e-12)
    first, second = np.arange(20) < right, np.arange(20) >= right
    comparison = compare_labels(first.astype(np.int64), second.astype(np.int64), np.ones(20, np.int64))
    assert comparison.p_value == pytest.approx(binomtest(right, 20).pvalue, rel=1e-9)


def test_wilson_interval():
    # 81 of 263: the example of Newcombe (1998), table I, method 3.
    assert wilson_interval(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson_interval(0, 20)[0] == 0.0
    assert wilson_interval(20, 20)[1] == 1.0


def test_mean_loss():
    logits = np.log(np.array([[0.2, 0.8], [0.5, 0.5]]))
    assert mean_loss(logits, np.array([1, 0])) == pytest.approx(-(np.log(0.8) + np.log(0.5)) / 2)
    weighted = mean_loss(logits, np.array([1, 0]), np.array([3.0, 1.0]))
    assert weighted == pytest.approx(-(3 * np.log(0.8) + np.log(0.5)) / 4)


def test_compare_counts_only_texts_on_which_they_differ():
    targets = np.zeros(100, dtype=int)
    first, second = targets.copy(), targets.copy()
    first[:2] = 1  # wrong where the second is right
    second[2:12] = 1  # and ten the other way
    second[50:60] = first[50:60] = 1  # both wrong
    comparison = compare_labels(first, second, targets)
    assert comparison.accuracy == pytest.approx(0.08)
    # McNemar, exact: twice the chance of at most 2 of 12 fair coins.
    assert comparison.p_value == pytest.approx(2 * (1 + 12 + 66) / 2**12)
    low, high = comparison.interval
    assert 0 < low < 0.08 < high < 0.16


def test_compare_equal_classifiers():
    same = np.array([0, 1, 1])
    assert compare_labels(same, same, same).p_value == 1.0
    assert compare_labels(same, same, same).interval == (0.0, 0.0)
