"""Pruned weights."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from headwise.linear import linear_warm_start as thinning
from headwise.linear.linear_warm_start import LEAST_SHARE, max_abs_weights, prune

WEIGHTS = np.random.default_rng(0).normal(size=(50, 33)).astype(np.float32) ** 5
WEIGHTS[7] = 0


def test_few_columns_stay_as_they_are():
    narrow = WEIGHTS[:, : thinning.FEW_LABELS]
    assert prune(narrow) is narrow


@pytest.mark.parametrize("portion", [1, 100, 1 << 22])
def test_weights_below_a_share_of_the_largest_of_their_feature_are_dropped(portion, monkeypatch):
    monkeypatch.setattr(thinning, "_PORTION", portion)
    pruned = prune(WEIGHTS)
    assert isinstance(pruned, csr_matrix)
    top = np.abs(WEIGHTS).max(axis=1, keepdims=True)
    expected = np.where(np.abs(WEIGHTS) >= LEAST_SHARE * top, WEIGHTS, 0)
    np.testing.assert_array_equal(pruned.toarray(), expected)
    assert pruned.nnz == np.count_nonzero(expected) < WEIGHTS.size
    np.testing.assert_array_equal(max_abs_weights(pruned), top[:, 0])
    np.testing.assert_array_equal(max_abs_weights(WEIGHTS), top[:, 0])


def test_no_more_than_the_most(monkeypatch):
    monkeypatch.setattr(thinning, "MOST_KEPT", 60)
    pruned = prune(WEIGHTS)
    shares = np.abs(WEIGHTS) / np.maximum(np.abs(WEIGHTS).max(axis=1, keepdims=True), 1e-30)
    assert pruned.nnz == 60
    assert shares[pruned.toarray() != 0].min() >= np.sort(shares.ravel())[-60]


@pytest.mark.parametrize("shape", [(0, 40), (5, 40)])
def test_nothing_to_keep(shape):
    pruned = prune(np.zeros(shape, dtype=np.float32))
    assert pruned.shape == shape
    np.testing.assert_array_equal(max_abs_weights(pruned), np.zeros(shape[0]))
    np.testing.assert_array_equal(max_abs_weights(csr_matrix(shape, dtype=np.float32)), np.zeros(shape[0]))
