"""Learning-curve extrapolation: a power law through the errors of models of fewer texts, with intervals.

The error of a model trained on n texts is modelled as `L (1 - r + r (n / N)^-c)`. L is the error with all N
texts, r the fraction of it that vanishes with unlimited texts, and c the speed of that. The posterior of r
and c is computed on a grid (with a Student t likelihood, as the noise variance is unknown, too), and
predictions are averaged over it.

No learning curve is exactly a power law. On 35 halves of 11 data sets (benchmarks/defaults/more_texts.py),
the 95 % interval of the power law alone contained the error with the other half added 20 times; the gain
was off by a factor whose logarithm has a standard deviation of about 1/3. Gains are therefore multiplied
by such a random factor. If the errors at the largest size deviate from the law beyond their noise, the
curve starts at these errors, and the factor has a larger deviation.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_SHARES = np.linspace(0, 1, 41)
_SPEEDS = np.geomspace(0.05, 2.0, 33)
_USUAL, _SPREAD = 0.4, 0.7
"""The log-normal prior of the speed c: its median, and its deviation in logarithms."""
_WHOLE = 2.0
"""The exponent of r in its prior, which favours large r."""
_FLAT = 0.1
"""The prior probability that more texts do not help (r = 0)."""
_MISFIT, _OFF = 0.03, 0.35
"""The misfit of a power law as a fraction of the error, and the deviation of the logarithm of extrapolated
gains."""
_BEYOND = 2.0
"""The factor by which a deviation at the largest size widens the logarithm of gains."""
_LEAST = 1e-8
"""The smallest variance, as a fraction of the square of the largest error."""
_OVERLAP = 0.25
"""The correction for models of several seeds that share training texts (Nadeau and Bengio, 2003): the ratio
of held-out to training texts."""
_FREEDOM = 4.0
"""The prior degrees of freedom of the noise variance."""
_DRAWS = 4_000


@dataclass(frozen=True)
class PowerLaw:
    """Posterior draws of the power law, see the module.

    Attributes:
        texts: The current number of texts (N).
        level: L, `[draws]`.
        share: r, `[draws]`.
        speed: c, `[draws]`.
        factor: The random factor of extrapolated gains, `[draws]`.
        off: The log-ratio of the error at the largest size to that of the law; 0 within the noise.
    """

    texts: int
    level: NDArray[np.float64]
    share: NDArray[np.float64]
    speed: NDArray[np.float64]
    factor: NDArray[np.float64]
    off: float = 0.0

    def errors(self, texts: float) -> NDArray[np.float64]:
        """The error with `texts` texts, `[draws]`."""
        gain = self.level * self.share * (1 - (texts / self.texts) ** -self.speed)
        return np.maximum(self.level - gain * (self.factor if texts > self.texts else 1.0), 0.0)

    def error(self, texts: float) -> tuple[float, float, float]:
        """The median error with `texts` texts, and its 95 % interval: `(median, low, high)`."""
        return _middle(self.errors(texts))

    def gain(self, more: float) -> tuple[float, float, float]:
        """The reduction of the error by `more` additional texts: `(median, low, high)` of the 95 %
        interval."""
        return _middle(self.errors(self.texts) - self.errors(self.texts + more))


def fit_power_law(sizes: NDArray[np.int64], errors: NDArray[np.float64], texts: int) -> PowerLaw:
    """Fit a power law to measured errors.

    Args:
        sizes: Numbers of training texts, `[sizes]`, three or more.
        errors: Errors of the models, `[seeds, sizes]`; all models of a seed have the same held-out texts.
        texts: The current number of texts.
    """
    seeds = len(errors)
    means = errors.mean(axis=0)
    away = errors - errors.mean(axis=1, keepdims=True) - means + means.mean()
    # The variance is modelled as inversely proportional to the size, and pooled over all sizes.
    shape = sizes.max() / sizes
    pooled = (away**2 / shape).sum() / max((seeds - 1) * (len(sizes) - 1), 1)
    variances = (
        pooled * shape * (1 / seeds + _OVERLAP) + (_MISFIT * means) ** 2 + _LEAST * means.max() ** 2 + 1e-30
    )
    share, speed = (grid.ravel() for grid in np.meshgrid(_SHARES, _SPEEDS, indexing="ij"))
    curves = 1 - share[:, None] + share[:, None] * (sizes / texts) ** -speed[:, None]
    precision = (curves**2 / variances).sum(axis=1)
    levels = (curves * means / variances).sum(axis=1) / precision
    squares = ((means - levels[:, None] * curves) ** 2 / variances).sum(axis=1) + _FREEDOM
    freedom = len(sizes) - 1 + _FREEDOM
    learnt = share > 0
    prior = _WHOLE * np.log(share + 1e-3) - 0.5 * (np.log(speed / _USUAL) / _SPREAD) ** 2
    odds = np.log(_FLAT / (1 - _FLAT))
    prior[~learnt] += odds + np.logaddexp.reduce(prior[learnt]) - np.logaddexp.reduce(prior[~learnt])
    likely = prior - 0.5 * freedom * np.log(squares) - 0.5 * np.log(precision)
    weights = np.exp(likely - likely.max())
    chance = np.random.Generator(np.random.PCG64(0))
    drawn = chance.choice(len(weights), _DRAWS, p=weights / weights.sum())
    scale = np.sqrt(squares[drawn] / freedom / precision[drawn])
    level = np.maximum(levels[drawn] + scale * chance.standard_t(freedom, _DRAWS), 0.0)
    last, noise = means[-1], (pooled * (1 / seeds + _OVERLAP)) ** 0.5
    fitted = float(np.median(level * curves[drawn, -1]))
    away_from_it = abs(last - fitted) > max(2 * noise, 2 * _MISFIT * fitted) and min(last, fitted) > 0
    off = float(np.log(last / fitted)) if away_from_it else 0.0
    factor = np.exp((_OFF + _BEYOND * abs(off)) * chance.standard_normal(_DRAWS))
    return PowerLaw(texts, level * np.exp(off), share[drawn], speed[drawn], factor, off)


def _middle(values: NDArray[np.float64]) -> tuple[float, float, float]:
    low, middle, high = np.quantile(values, [0.025, 0.5, 0.975])
    return float(middle), float(low), float(high)
