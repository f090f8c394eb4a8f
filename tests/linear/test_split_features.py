"""Features of one text, and starting from other solutions, against liblinear and cold starts."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_matrix, hstack, identity
from sklearn.svm import LinearSVC

from headwise.linear import split_features
from headwise.linear import svm_solver as solver
from headwise.linear.linear_weights import DesignMatrix
from headwise.linear.split_features import SplitFeatures, feature_norms
from headwise.linear.svm_solver import LinearProblem, fit_svm_columns

TEXTS, FEATURES = 60, 30


@pytest.fixture(autouse=True)
def exact(monkeypatch):
    monkeypatch.setattr(solver, "TOLERANCE", 1e-5)
    monkeypatch.setattr(solver, "MAX_EPOCHS", 3000)


def problem(columns: int):
    """Texts that share some features; a third of them has a feature of its own, and no text has the
    last."""
    random = np.random.default_rng(3)
    drawn = random.random((TEXTS, FEATURES))
    common = csr_matrix(np.where(drawn < 0.2, 5 * drawn, 0))
    alone = csr_matrix(identity(TEXTS))[:, ::3] * 0.7
    sparse = csr_matrix(hstack([common, alone, np.zeros((TEXTS, 1))]), dtype=np.float32)
    labels = np.arange(columns) if columns > 1 else np.array([1])
    targets = random.permutation(TEXTS) % max(columns, 2)
    dense = random.normal(size=(TEXTS, 2)).astype(np.float32)
    return DesignMatrix(sparse, dense), np.where(targets[:, None] == labels, 1, -1).astype(np.int8)


@pytest.mark.parametrize("with_ratios", [False, True])
@pytest.mark.parametrize("columns", [1, 3, 20])
def test_features_of_one_text_weigh_what_liblinear_gives_them(columns, with_ratios):
    rows, signs = problem(columns)
    ratios = None
    if with_ratios:
        shape = (rows.features, columns)
        ratios = np.random.default_rng(1).uniform(0.3, 2.0, shape).astype(np.float32)
    solution = fit_svm_columns(
        LinearProblem(rows, signs, np.ones((TEXTS, 1), dtype=np.float32)), ratios=ratios
    )
    for column in range(columns):
        sparse = rows.sparse if ratios is None else rows.sparse.multiply(ratios[:, column])
        matrix = csr_matrix(hstack([sparse, rows.dense]))
        peer = LinearSVC(C=1.0, tol=1e-7, max_iter=100_000, random_state=0).fit(matrix, signs[:, column])
        weights = peer.coef_[0, : rows.features] * (1 if ratios is None else ratios[:, column])
        np.testing.assert_allclose(solution.weights[:, column], weights, atol=2e-3)


def test_the_parts_make_up_the_matrix():
    sparse = problem(3)[0].sparse
    split = SplitFeatures.of(sparse, None)
    assert split.shared.shape[1] < sparse.shape[1] - TEXTS // 3
    lengths = np.asarray(sparse.multiply(sparse).sum(axis=1))
    np.testing.assert_allclose(split.norms + split.diagonal, lengths, rtol=1e-6)


@pytest.mark.parametrize("with_squares", [False, True])
def test_norms_are_the_same_bits_a_few_texts_at_a_time(monkeypatch, with_squares):
    sparse = problem(3)[0].sparse
    squares = np.random.default_rng(2).random((sparse.shape[1], 3), np.float32) if with_squares else None
    at_once = feature_norms(sparse, squares)
    monkeypatch.setattr(split_features, "_TEXTS_AT_ONCE", 7)
    np.testing.assert_array_equal(feature_norms(sparse, squares), at_once)


@pytest.mark.parametrize("texts", [0, 1])
def test_no_text_or_one_shares_nothing(texts):
    rows, signs = problem(3)
    numbers = np.arange(texts)
    split = SplitFeatures.of(rows.take(numbers).sparse, None)
    assert split.shared.shape == (texts, 0)
    coefficients = fit_svm_columns(
        LinearProblem(rows.take(numbers), signs[:texts], np.ones((texts, 1), dtype=np.float32))
    )
    assert coefficients.weights.shape == (rows.features, 3)
    assert (np.sign(coefficients.scores(rows.take(numbers))) == signs[:texts]).all()


@pytest.mark.parametrize("numbers", [False, True])
@pytest.mark.parametrize("strength", [0.3, 5.0])
def test_from_other_duals_the_solver_comes_to_the_same_weights(strength, numbers):
    rows, signs = problem(3)
    random = np.random.default_rng(2)
    ratios = random.uniform(0.3, 2.0, (rows.features, 3)).astype(np.float32)
    offsets, targets = random.normal(size=signs.shape).astype(np.float32), None
    if numbers:
        signs, targets = np.ones_like(signs), random.normal(size=signs.shape).astype(np.float32)
    costs = random.uniform(0.2, 2.0, (TEXTS, 1)).astype(np.float32)
    costs[7] = 0
    duals = np.zeros(signs.shape, dtype=np.float32)
    first = LinearProblem(rows, signs, costs, offsets, targets)
    fit_svm_columns(first, ratios=ratios, duals=duals)
    assert duals.any()
    assert not duals[7].any()
    scaled = DesignMatrix(rows.sparse, rows.dense * np.float32(2))
    second = replace(first, rows=scaled, costs=costs * np.float32(strength))
    cold = fit_svm_columns(second, ratios=ratios)
    warm = fit_svm_columns(second, ratios=ratios, duals=duals)
    np.testing.assert_allclose(warm.scores(scaled), cold.scores(scaled), atol=2e-3)
