"""Softmax, sigmoid and their logarithms say what SciPy's functions say."""

import numpy as np
import pytest
import scipy.special

from headwise.core import activations

ROWS = {
    "usual": np.array([[0.5, -1.0, 2.0], [0.0, 0.0, 0.0]]),
    "large": np.array([[1000.0, -1000.0, 999.0], [-800.0, -801.0, 0.0]]),
    "single precision": np.array([[3.0, -90.0, 90.0]], dtype=np.float32),
    "forbidden": np.array([[0.0, -np.inf, 1.0]]),
    "no rows": np.zeros((0, 3)),
}


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
def test_rows(name, rows):
    actual = getattr(activations, name)(rows, axis=1)
    expected = getattr(scipy.special, name)(rows, axis=1) if len(rows) else rows
    assert actual.dtype == rows.dtype
    np.testing.assert_allclose(actual, expected, rtol=1e-6 if rows.dtype == np.float32 else 1e-14)


@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
def test_sigmoid(rows):
    actual = activations.expit(rows)
    assert actual.dtype == rows.dtype
    np.testing.assert_allclose(actual, scipy.special.expit(rows), rtol=3e-7, atol=1e-38)


def test_logit_undoes_the_sigmoid():
    shares = np.array([0.0, 1e-9, 0.3, 0.5, 1.0])
    np.testing.assert_allclose(activations.logit(shares), scipy.special.logit(shares))
    np.testing.assert_allclose(activations.expit(activations.logit(shares)), shares)
    assert activations.logit(0.5) == 0
