"""Numbers: those of training texts, and how much each text counts in them."""

import numpy as np
import pytest

from headwise.linear.text_numbers import Numbers


def test_numbers_count_by_weights():
    values = np.array([[0.0], [1.0], [1.0], [4.0], [1e6]])
    found = Numbers.of(values, weights=np.array([1.0, 1.0, 1.0, 2.0, 0.0]))
    again = Numbers.of(np.array([[0.0], [1.0], [1.0], [4.0], [4.0]]))
    assert found.center == pytest.approx(again.center)
    assert found.deviation == pytest.approx(again.deviation)
