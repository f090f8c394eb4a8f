"""Ridge regression of numbers of any size."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from headwise.linear.sklearn_models import fit_ridge

FEATURES = csr_array(np.random.default_rng(0).normal(size=(60, 4)).astype(np.float32))
TARGETS = np.asarray(FEATURES @ np.array([1.0, -2.0, 0.5, 3.0]))


def errors(targets: np.ndarray) -> np.ndarray:
    ridge = fit_ridge((FEATURES[:40], targets[:40]), (FEATURES[40:50], targets[40:50]))
    return ridge.predict(FEATURES[50:]) - targets[50:]


def test_far_from_zero_as_seconds_since_1970_are():
    small, far = errors(TARGETS), errors(1.7e9 + TARGETS)
    assert np.abs(small).max() < 0.1
    np.testing.assert_allclose(far, small, atol=1e-3)


@pytest.mark.parametrize("unit", [1e-60, 1e60])
def test_numbers_that_32_bits_do_not_hold(unit):
    np.testing.assert_allclose(errors(unit * TARGETS) / unit, errors(TARGETS), atol=1e-3)
