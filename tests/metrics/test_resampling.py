"""Intervals and tests by resampling, against known figures."""

import numpy as np
import pytest
from scipy.stats import binomtest

from headwise.metrics.resampling import bootstrap_interval, compare_counts, compare_ratios


def share(counts):
    return counts[..., 0] / np.maximum(counts[..., 1], 1)


def right_or_wrong(*groups: tuple[int, int]) -> np.ndarray:
    """Texts of one word each, right or wrong, so many times."""
    return np.array([(right, 1) for right, times in groups for _ in range(times)])


def test_interval_of_a_share_is_near_the_binomial():
    low, high = bootstrap_interval(right_or_wrong((1, 300), (0, 100)), share)
    spread = 1.96 * np.sqrt(0.75 * 0.25 / 400)
    assert (low, high) == pytest.approx((0.75 - spread, 0.75 + spread), abs=0.006)


def test_words_of_one_text_are_drawn_together():
    alone = right_or_wrong((1, 50), (0, 50))
    together = np.array([(10, 10)] * 5 + [(0, 10)] * 5)
    (low, high), (lower, higher) = (bootstrap_interval(counts, share) for counts in (alone, together))
    assert higher - lower > 2 * (high - low)


def test_interval_is_that_of_drawing_texts():
    random = np.random.default_rng(0)
    counts = random.integers(0, 3, (30, 2)) + np.array([0, 2])
    draws = [share(counts[random.integers(0, 30, 30)].sum(0)) for _ in range(4000)]
    assert bootstrap_interval(counts, share) == pytest.approx(np.quantile(draws, [0.025, 0.975]), abs=0.015)


def test_comparison_of_shares_is_mcnemars():
    # Of 100 texts the first model alone is right on 12, the second alone on 3.
    first = right_or_wrong((1, 12), (0, 3), (1, 60), (0, 25))
    second = right_or_wrong((0, 12), (1, 3), (1, 60), (0, 25))
    comparison = compare_counts(first, second, share)
    assert comparison.score == pytest.approx(0.09)
    assert comparison.p_value == pytest.approx(binomtest(3, 15).pvalue, abs=0.01)
    low, high = comparison.interval
    assert 0 < low < 0.09 < high < 0.18
    reverse = compare_counts(second, first, share)
    assert reverse.score == -comparison.score
    assert reverse.p_value == pytest.approx(comparison.p_value, abs=0.01)


def test_equal_models():
    counts = right_or_wrong((1, 5), (0, 5))
    comparison = compare_counts(counts, counts, share)
    assert (comparison.score, comparison.interval, comparison.p_value) == (0.0, (0.0, 0.0), 1.0)


def test_the_same_counts_have_the_same_interval():
    counts = right_or_wrong((1, 7), (0, 3))
    assert bootstrap_interval(counts, share) == bootstrap_interval(counts, share)


@pytest.mark.parametrize("denominators", [(1, 2), (0, 9)])
def test_ratios_are_compared_as_by_drawing(denominators):
    random = np.random.default_rng(0)
    bottom = random.integers(*denominators, (400, 2))
    first, second = (
        np.stack([random.binomial(sizes, chance), sizes], axis=1)
        for sizes, chance in zip(bottom.T, (0.7, 0.6), strict=True)
    )
    drawn = compare_counts(first, second, share)
    score, interval = compare_ratios(first, second)
    assert score == pytest.approx(drawn.score)
    assert interval == pytest.approx(drawn.interval, abs=0.004)
    assert compare_ratios(first, first) == (0.0, (0.0, 0.0))
    assert compare_ratios(first[:1], first[:1])[0] == 0.0


@pytest.mark.parametrize(("right", "low", "high"), [(True, 0.8389, 1.0), (False, 0.0, 0.1611)])
def test_where_all_texts_are_alike_the_interval_is_that_of_a_share(right, low, high):
    counts = np.array([[3 * right, 3]] * 20 + [[0, 0]] * 5)  # in the last there is nothing to find
    interval = bootstrap_interval(counts, lambda sums: sums[..., 0] / sums[..., 1])
    assert interval == pytest.approx((low, high), abs=1e-4)
