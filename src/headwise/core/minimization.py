"""Minimise smooth functions of one variable or of many.

`scipy.optimize` does the same, but takes a third of a second to load, and longer over a step than a small
regression over its gradient.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Cost = Callable[[Vector], tuple[float, Vector]]

_PAIRS = 6  # steps that the curvature is estimated from
_DECREASE = 1e-3  # of the fall that the slope promises, the least share that a step must reach
_STEEP = 0.9  # of the slope at the start of a step, the largest share that may remain at its end
_TRIALS = 20  # lengths of a step
_GOLDEN = (3 - math.sqrt(5)) / 2
_ACCURACY = 1e-4  # of the place of a minimum


def minimize_smooth(
    cost: Cost, start: Vector, *, iterations: int, slope: float = 1e-4, decrease: float = 1e-9
) -> Vector:
    """A minimum of a function that is bounded from below: L-BFGS (Liu, Nocedal; Mathematical Programming
    1989).

    Args:
        cost: The function: its value and its gradient, `[variables]`, at a point.
        start: The first point, `[variables]`.
        iterations: Maximum number of steps.
        slope: End where no component of the gradient is larger.
        decrease: End when a step lowers the value by less than this share of it (of 1 if that is more).
    """
    point, (value, gradient) = start, cost(start)
    moves = turns = np.empty((0, len(start)))
    for _ in range(iterations):
        if np.abs(gradient).max(initial=0) <= slope:
            break
        if len(moves):
            direction = -_scaled(gradient, moves, turns)
        else:  # nothing is known of the curvature
            direction = gradient / -math.sqrt(gradient @ gradient)
        step = _step(cost, point, direction, value, gradient)
        if step is None:
            break
        length, lower, next_gradient = step
        move, turn = length * direction, next_gradient - gradient
        if move @ turn > 1e-10 * (turn @ turn):
            moves = np.vstack([moves[1 - _PAIRS :], move])
            turns = np.vstack([turns[1 - _PAIRS :], turn])
        fall, value, point, gradient = value - lower, lower, point + move, next_gradient
        if fall <= decrease * max(abs(value), abs(value + fall), 1.0):
            break
    return point


def _scaled(gradient: Vector, moves: Vector, turns: Vector) -> Vector:
    """The gradient times the inverse Hessian that past steps suggest, in the compact form (Byrd, Nocedal,
    Schnabel; Mathematical Programming 1994, Theorem 2.2).

    Args:
        gradient: g, `[variables]`.
        moves: S, the past steps, `[steps, variables]`.
        turns: Y, the changes of the gradient, `[steps, variables]`.
    """
    products = moves @ turns.T
    upper, diagonal = np.triu(products), np.diag(products)
    scale = diagonal[-1] / (turns[-1] @ turns[-1])  # gamma
    first = np.linalg.solve(upper, moves @ gradient)
    turned = scale * (first @ turns)
    second = np.linalg.solve(upper.T, diagonal * first + turns @ (turned - scale * gradient))
    return scale * gradient + second @ moves - turned


def _step(
    cost: Cost, point: Vector, direction: Vector, value: float, gradient: Vector
) -> tuple[float, float, Vector] | None:
    """The length of a step in a direction that meets the weak Wolfe conditions, with the value and the
    gradient at its end. Where one does not meet them, the next ends where the slope along the direction
    would be 0 if it changed evenly. None if no step lowers the value."""
    slope = float(direction @ gradient)
    if not slope < 0:
        return None
    low, high, length, best = 0.0, math.inf, 1.0, None
    for _ in range(_TRIALS):
        reached, reached_gradient = cost(point + length * direction)
        end_slope = float(direction @ reached_gradient)
        if reached <= value + _DECREASE * length * slope:
            best = length, reached, reached_gradient
            if end_slope >= _STEEP * slope:
                break
            low = length
        else:
            high = length
        even = length * slope / (slope - end_slope) if end_slope > slope else math.inf
        if high == math.inf:
            length = min(max(even, 2 * low), 10 * low)
        else:
            length = min(max(even, 0.9 * low + 0.1 * high), 0.1 * low + 0.9 * high)
    return best


def minimize_within(function: Callable[[float], float], low: float, high: float) -> float:
    """A minimum of a function between two bounds, one of them if there are several: parabolas and golden
    sections (Brent: Algorithms for minimization without derivatives, 1973, chapter 5)."""
    best = second = third = low + _GOLDEN * (high - low)
    value = second_value = third_value = function(best)
    step = before = 0.0  # the last step and the one before it
    while True:
        middle = (low + high) / 2
        least = 1.5e-8 * abs(best) + _ACCURACY / 3
        if abs(best - middle) <= 2 * least - (high - low) / 2:
            return best
        # The minimum of the parabola through the three best points, if it is near.
        p = (best - second) * (value - third_value)
        q = (best - third) * (value - second_value)
        top, bottom = (best - third) * q - (best - second) * p, 2 * (q - p)
        offset = -top / bottom if bottom else math.inf
        inside = low < best + offset < high and abs(offset) < abs(before) / 2
        before = step
        if inside:
            step = offset
            if min(best + step - low, high - best - step) < 2 * least:
                step = math.copysign(least, middle - best)
        else:
            before = (low if best >= middle else high) - best
            step = _GOLDEN * before
        place = best + math.copysign(max(abs(step), least), step)
        reached = function(place)
        if reached <= value:
            low, high = (best, high) if place >= best else (low, best)
            third, third_value, second, second_value = second, second_value, best, value
            best, value = place, reached
            continue
        low, high = (place, high) if place < best else (low, place)
        if reached <= second_value or second == best:
            third, third_value, second, second_value = second, second_value, place, reached
        elif reached <= third_value or third in (best, second):
            third, third_value = place, reached


def minimize_bounded(
    cost: Callable[[Vector], tuple[float, Vector, Vector]], start: Vector, low: float, high: float
) -> Vector:
    """The minimum of a convex function of a few variables between bounds: projected Newton steps
    (Bertsekas; SIAM Journal on Control and Optimization 1982).

    Args:
        cost: The function: its value, its gradient `[variables]` and its Hessian
            `[variables, variables]` at a point.
        start: The first point, `[variables]`.
        low, high: The bounds of all variables.
    """
    point = start.clip(low, high)
    value, gradient, hessian = cost(point)
    for _ in range(100):
        held = ((point <= low) & (gradient > 0)) | ((point >= high) & (gradient < 0))
        free = np.flatnonzero(~held)
        if np.abs(gradient[free]).max(initial=0) <= 1e-9:
            break
        inner = hessian[np.ix_(free, free)]
        ridge = 1e-12 * max(float(np.trace(inner)), 1e-12) * np.eye(len(free))
        direction = np.zeros_like(point)
        direction[free] = -np.linalg.solve(inner + ridge, gradient[free])
        for length in 0.5 ** np.arange(40):
            place = (point + length * direction).clip(low, high)
            reached = cost(place)
            if reached[0] <= value + _DECREASE * float(gradient @ (place - point)):
                break
        else:  # rounding leaves nothing to gain
            break
        if np.array_equal(place, point):
            break
        point, (value, gradient, hessian) = place, reached
    return point
