"""Scores of numbers, beside those of who always says the same."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.metrics.regression_scores import compare_errors, number_scores, score_numbers


def test_always_the_median_is_the_nearest_number():
    targets = np.array([1.0, 2.0, 4.0, 100.0, 3.0])
    scores = score_numbers(np.full(5, 3.0), targets)
    assert (scores.median, scores.median_mae) == (3.0, pytest.approx(np.abs(targets - 3).mean()))
    assert scores.mae == scores.median_mae
    for guess in (2.9, targets.mean()):
        assert score_numbers(np.full(5, guess), targets).mae > scores.median_mae


def test_nearly_constant_targets_are_scored_without_warnings_of_another_library():
    targets = 1e9 + 1e-6 * np.arange(90)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert 0.5 < score_numbers(np.arange(90.0), targets).pearson <= 1


@pytest.mark.parametrize("unit", [1e-90, 1e-13, 1e9, 1e100])
def test_no_score_depends_on_the_unit(unit):
    random = np.random.default_rng(0)
    targets = random.normal(size=60)
    close, far = (targets + spread * random.normal(size=60) for spread in (0.1, 0.5))
    plain, scaled = score_numbers(close, targets), score_numbers(close * unit, targets * unit)
    assert scaled.pearson == pytest.approx(plain.pearson)
    assert scaled.mae == pytest.approx(plain.mae * unit)
    difference = compare_errors(close * unit, far * unit, targets * unit)
    assert difference.p_value == compare_errors(close, far, targets).p_value < 0.01


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 3)), min_size=1))
def test_a_weight_is_a_number_of_copies(rows):
    predictions, targets, weights = np.array(rows).T
    weights[0] += not weights.any()
    copies = number_scores(predictions.repeat(weights) / 3, targets.repeat(weights), 2.0)
    assert number_scores(predictions / 3, targets, 2.0, 0.3 * weights) == pytest.approx(copies, abs=1e-9)
    odd = np.where(weights > 0, targets, 1e50)  # what counts nothing may be anything
    assert number_scores(predictions / 3, odd, 2.0, 0.3 * weights)["spearman"] == pytest.approx(
        copies["spearman"], abs=1e-9
    )
