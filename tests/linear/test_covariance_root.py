import numpy as np
import pytest
from scipy.linalg import sqrtm
from sklearn.linear_model import Ridge

from headwise.linear.dense_features import covariance_root


def vectors(texts: int, size: int = 5) -> np.ndarray:
    random = np.random.default_rng(0)
    return (random.normal(size=(texts, size)) * np.arange(1, size + 1) + 3).astype(np.float32)


def test_it_is_the_square_root_of_the_covariance():
    points = vectors(200)
    root, expected = covariance_root(points), np.real(sqrtm(np.cov(points.T)))
    np.testing.assert_allclose(root / root[0, 0], expected / expected[0, 0], rtol=1e-3, atol=1e-4)
    turned, away = (rows - rows.mean(axis=0) for rows in (points @ root, points))
    assert (turned**2).sum() == pytest.approx((away**2).sum(), rel=1e-4)


def test_a_ridge_on_what_leads_expects_as_much_of_a_direction_as_it_varies():
    points = vectors(40)
    targets = np.random.default_rng(1).normal(size=40)
    root = covariance_root(points).astype(np.float64)
    weights = root @ Ridge(alpha=2.0, solver="cholesky").fit(points @ root, targets).coef_
    away = points - points.mean(axis=0)
    expected = np.linalg.solve(away.T @ away + 2.0 * np.linalg.inv(root @ root), away.T @ targets)
    np.testing.assert_allclose(weights, expected, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize(("texts", "size", "directions"), [(3, 5, 2), (30, 300, 29), (280, 300, 256)])
def test_of_fewer_texts_than_numbers_only_directions_in_which_they_differ(texts, size, directions):
    """It is a root of the same covariance, or of its largest part."""
    points = vectors(texts, size)
    computed = covariance_root(points)
    assert computed.shape == (size, directions)
    away = points - points.mean(axis=0, dtype=np.float64)
    squares, axes = np.linalg.eigh(away.T @ away)
    root = (axes * np.sqrt(np.maximum(squares, 0) * squares.sum() / (squares**2).sum()))[:, -directions:]
    np.testing.assert_allclose(computed @ computed.T, root @ root.T, rtol=1e-3, atol=1e-5)


def test_what_rounding_leaves_is_no_direction():
    points = np.repeat(vectors(4, 20), 3, axis=0)
    assert covariance_root(points).shape == (20, 3)


@pytest.mark.parametrize("texts", [0, 1, 4])
def test_vectors_that_do_not_differ_stay(texts):
    np.testing.assert_array_equal(covariance_root(np.ones((texts, 4), dtype=np.float32)), np.eye(4))
