"""The tail of a fair coin, of which the McNemar test takes its p value."""

import pytest
from scipy.special import bdtr

from headwise.metrics.classification_scores import binomial_tail


@pytest.mark.parametrize("tosses", [0, 1, 2, 7, 50, 1_000, 1_000_000])
def test_as_the_binomial_distribution(tosses):
    for heads in {0, min(1, tosses), tosses // 3, tosses // 2, tosses * 51 // 100, tosses}:
        assert binomial_tail(heads, tosses) == pytest.approx(bdtr(heads, tosses, 0.5), rel=1e-8, abs=1e-300)
