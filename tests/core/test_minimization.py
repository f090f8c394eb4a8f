"""Minima of functions of one variable and of many, against known places and SciPy."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar

from headwise.core.minimization import minimize_bounded, minimize_smooth, minimize_within

SCALARS = {
    "parabola": lambda x: (x - 1.3) ** 2 + 1,
    "steep wall": lambda x: math.cosh(4 * (x + 2.9)),
    "falling": lambda x: -x,
    "rising": lambda x: x,
    "flat": lambda x: 0.0,
    "not smooth": lambda x: abs(x - 0.2) ** 1.5,
    "one side flat": lambda x: math.log1p(math.exp(-5 * x)) + 0.01 * x * x,
    "huge": lambda x: 1e200 * (x + 1) ** 2,
}


@pytest.mark.parametrize("name", SCALARS)
def test_between_bounds(name):
    expected = minimize_scalar(SCALARS[name], bounds=(-3, 3), method="bounded", options={"xatol": 1e-4})
    assert minimize_within(SCALARS[name], -3, 3) == pytest.approx(expected.x, abs=1e-8)


def test_what_is_no_number_is_no_minimum():
    assert minimize_within(lambda x: math.nan if x > 0 else (x + 1) ** 2, -3, 3) <= 0


def quadratic(curvatures: np.ndarray, center: np.ndarray):
    def cost(x):
        away = x - center
        return float(0.5 * (curvatures * away**2).sum()) + 7, curvatures * away

    return cost


def test_a_stretched_bowl():
    center = np.linspace(-2, 3, 12)
    cost = quadratic(np.geomspace(1, 1e3, 12), center)
    minimum = minimize_smooth(cost, np.zeros(12), iterations=200, slope=1e-7, decrease=0.0)
    np.testing.assert_allclose(minimum, center, atol=1e-6)


def test_a_curved_valley():
    def rosenbrock(x):
        bend = x[1] - x[0] ** 2
        gradient = np.array([-400 * x[0] * bend - 2 * (1 - x[0]), 200 * bend])
        return float(100 * bend**2 + (1 - x[0]) ** 2), gradient

    minimum = minimize_smooth(rosenbrock, np.array([-1.2, 1.0]), iterations=200, slope=1e-8, decrease=0.0)
    np.testing.assert_allclose(minimum, [1, 1], atol=1e-6)


@pytest.mark.parametrize("size", [1e-8, 1.0, 1e8])
def test_the_first_step_may_be_much_too_long_or_too_short(size):
    center = size * np.array([1.0, -2.0, 0.5])
    cost = quadratic(np.full(3, 1 / size**2), center)
    minimum = minimize_smooth(cost, np.zeros(3), iterations=60, slope=0.0, decrease=1e-14)
    np.testing.assert_allclose(minimum / size, center / size, atol=1e-4)


def test_a_start_at_the_minimum_and_no_variables():
    cost = quadratic(np.ones(2), np.ones(2))
    assert minimize_smooth(cost, np.ones(2), iterations=9).tolist() == [1, 1]
    assert minimize_smooth(lambda x: (0.0, x), np.zeros(0), iterations=9).tolist() == []


def test_few_iterations_end_lower_than_they_begin():
    cost = quadratic(np.geomspace(1, 1e4, 30), np.arange(30.0))
    minimum = minimize_smooth(cost, np.zeros(30), iterations=3)
    assert cost(minimum)[0] < cost(np.zeros(30))[0]


@pytest.mark.parametrize("seed", range(6))
def test_bounds_of_a_convex_function(seed):
    random = np.random.default_rng(seed)
    root, center = random.normal(size=(3, 3)), random.normal(size=3)
    hessian = root @ root.T + 0.1 * np.eye(3)

    def cost(x):
        slopes = hessian @ (x - center)
        soft = np.logaddexp(0, x)
        chance = 1 / (1 + np.exp(-x))
        value = 0.5 * (x - center) @ slopes + soft.sum()
        return float(value), slopes + chance, hessian + np.diag(chance * (1 - chance))

    minimum = minimize_bounded(cost, np.full(3, 0.3), -0.5, 0.5)
    expected = minimize(lambda x: cost(x)[:2], np.full(3, 0.3), jac=True, bounds=[(-0.5, 0.5)] * 3)
    assert np.all((minimum >= -0.5) & (minimum <= 0.5))
    assert cost(minimum)[0] <= expected.fun + 1e-9
    np.testing.assert_allclose(minimum, expected.x, atol=1e-3)


def test_bounds_of_a_flat_function():
    flat = minimize_bounded(lambda x: (0.0, 0 * x, np.zeros((2, 2))), np.array([0.3, 4.0]), 0.0, 1.0)
    assert flat.tolist() == [0.3, 1.0]
