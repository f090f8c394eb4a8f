"""Numbers: those of training texts, and how much each text counts in them."""

import numpy as np
import pytest

from headwise.linear.dense_features import StandardizedFeatures


def test_numbers_count_by_weights():
    values = np.array([[0.0], [1.0], [1.0], [4.0], [1e6]])
    features = StandardizedFeatures.of(values, weights=np.array([1.0, 1.0, 1.0, 2.0, 0.0]))
    again = StandardizedFeatures.of(np.array([[0.0], [1.0], [1.0], [4.0], [4.0]]))
    assert features.center == pytest.approx(again.center)
    assert features.deviation == pytest.approx(again.deviation)
