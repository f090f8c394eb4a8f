"""All labels at once, against liblinear one by one."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix, hstack
from sklearn.svm import LinearSVC

from headwise.linear import svm_solver as solver
from headwise.linear.linear_weights import DesignMatrix
from headwise.linear.svm_solver import LinearProblem, fit_svm_columns


@pytest.fixture(autouse=True)
def exact(monkeypatch):
    monkeypatch.setattr(solver, "TOLERANCE", 1e-5)
    monkeypatch.setattr(solver, "MAX_EPOCHS", 3000)


def problem(columns: int, texts: int = 80, features: int = 40, size: int = 0):
    random = np.random.default_rng(3)
    shares = random.random((texts, features), dtype=np.float32)
    sparse = csr_matrix(np.where(shares < 0.2, 5 * shares, 0))
    dense = random.normal(size=(texts, size)).astype(np.float32)
    targets = random.permutation(texts) % max(columns, 2)
    labels = np.arange(columns) if columns > 1 else np.array([1])
    return DesignMatrix(sparse, dense), np.where(targets[:, None] == labels, 1, -1).astype(np.int8)


def liblinear(matrix, signs, costs):
    coefficients = LinearSVC(C=1.0, tol=1e-7, max_iter=100_000, random_state=0)
    return coefficients.fit(matrix, signs, sample_weight=costs).decision_function(matrix)


@pytest.mark.parametrize("columns", [1, 3, 40])
@pytest.mark.parametrize("size", [0, 4])
def test_equals_liblinear(columns, size):
    rows, signs = problem(columns, size=size)
    costs = np.random.default_rng(0).uniform(0.2, 2.0, signs.shape).astype(np.float32)
    scores = fit_svm_columns(LinearProblem(rows, signs, costs)).scores(rows)
    matrix = csr_matrix(hstack([rows.sparse, rows.dense]))
    for column in range(columns):
        peer = liblinear(matrix, signs[:, column], costs[:, column])
        np.testing.assert_allclose(scores[:, column], peer, atol=2e-3)


@pytest.mark.parametrize("columns", [1, 3, 40])
def test_ratios_scale_the_features(columns):
    rows, signs = problem(columns)
    ratios = np.random.default_rng(1).uniform(0.3, 2.0, (40, columns)).astype(np.float32)
    costs = np.ones((80, 1), dtype=np.float32)
    scores = fit_svm_columns(LinearProblem(rows, signs, costs), ratios=ratios).scores(rows)
    for column in range(columns):
        scaled = csr_matrix(rows.sparse.multiply(ratios[:, column]))
        peer = liblinear(scaled, signs[:, column], np.ones(80))
        np.testing.assert_allclose(scores[:, column], peer, atol=2e-3)


@pytest.mark.parametrize("columns", [1, 3, 40])
@pytest.mark.parametrize("strengths", [(0.1, 1.0, 3.0), (3.0, 0.2)])
def test_a_path_of_strengths_has_the_solutions_of_each(columns, strengths):
    rows, signs = problem(columns, size=4)
    costs = np.random.default_rng(0).uniform(0.2, 2.0, signs.shape).astype(np.float32)
    coefficient_sets = solver.fit_svm_path(LinearProblem(rows, signs, costs), strengths)
    for strength, coefficients in zip(strengths, coefficient_sets, strict=True):
        alone = fit_svm_columns(LinearProblem(rows, signs, costs * np.float32(strength)))
        np.testing.assert_allclose(coefficients.scores(rows), alone.scores(rows), atol=2e-3)


def test_any_number_of_threads_computes_the_same(monkeypatch):
    rows, signs = problem(40, size=4)
    costs = np.ones((80, 1), dtype=np.float32)
    monkeypatch.setattr(solver, "LEAST_THREADED", 0)
    weights = []
    for threads in (1, 3):
        monkeypatch.setattr(solver, "usable_threads", lambda threads=threads: threads)
        coefficients = fit_svm_columns(LinearProblem(rows, signs, costs))
        weights.append(np.vstack([coefficients.weights, coefficients.dense, coefficients.bias]))
    np.testing.assert_array_equal(*weights)


def test_texts_without_cost_are_as_if_they_were_not_there():
    rows, signs = problem(3)
    costs = np.ones((80, 1), dtype=np.float32)
    costs[50:] = 0
    numbers = np.arange(50)
    complete, part = (
        fit_svm_columns(LinearProblem(rows, signs, costs)),
        fit_svm_columns(LinearProblem(rows.take(numbers), signs[:50], costs[:50])),
    )
    np.testing.assert_allclose(complete.weights, part.weights, atol=2e-4)


def test_nothing_to_learn_from():
    rows, signs = problem(3)
    none = np.zeros(0, dtype=np.int64)
    coefficients = fit_svm_columns(
        LinearProblem(rows.take(none), signs[:0], np.ones((0, 1), dtype=np.float32))
    )
    np.testing.assert_array_equal(coefficients.scores(rows), 0)


@pytest.mark.parametrize("size", [0, 4])
def test_numbers_are_ridge_regression(size):
    rows, signs = problem(3, size=size)
    random = np.random.default_rng(5)
    targets = random.normal(size=signs.shape).astype(np.float32)
    costs = random.uniform(0.2, 2.0, signs.shape).astype(np.float32)
    solution = fit_svm_columns(LinearProblem(rows, np.ones_like(signs), costs, targets=targets))
    wide = np.hstack([rows.sparse.toarray(), rows.dense, np.ones((80, 1))]).astype(np.float64)
    for column in range(3):
        weighted = costs[:, column, None] * wide
        best = np.linalg.solve(
            np.eye(wide.shape[1]) + 2 * weighted.T @ wide, 2 * weighted.T @ targets[:, column]
        )
        np.testing.assert_allclose(solution.scores(rows)[:, column], wide @ best, atol=2e-3)
