"""The tail of a fair coin, of which the McNemar test takes its p value."""

import pytest
from scipy.special import bdtr

from headwise.metrics.classification_scores import binomial_tail


@pytest.mark.parametrize("trials", [0, 1, 2, 7, 50, 1_000, 1_000_000])
def test_as_the_binomial_distribution(trials):
    for heads in {0, min(1, trials), trials // 3, trials // 2, trials * 51 // 100, trials}:
        assert binomial_tail(heads, trials) == pytest.approx(bdtr(heads, trials, 0.5), rel=1e-8, abs=1e-300)
