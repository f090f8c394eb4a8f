"""How much more texts are worth: a power law through the errors of models of fewer texts, and how far it
can be trusted.

The error of a model of n texts is taken to be `L (1 - r + r (n / N)^-c)`: L that of all N texts, of which
the share r would go away with endless texts, the faster the larger c. What is not known of r and c is not
guessed: all of them are weighed by how likely they make the errors that were measured (by a Student t
distribution, as the size of the noise is not known either), and what is said of more texts is what all of
them together say.

No error keeps to a power law. On 35 halves of 11 data sets (`benchmarks/more_texts.py`) the 95 % interval
of the law alone held what the other half brought 20 times; the gain was off by a factor whose logarithm
has a deviation of about a third. So that is what a gain may be off by. Where the errors of the most texts
themselves are off, beyond their noise, the law begins at these, and a gain may be off by more.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_SHARES = np.linspace(0, 1, 41)
_SPEEDS = np.geomspace(0.05, 2.0, 33)
_USUAL, _SPREAD = 0.4, 0.7
"""The speeds that are usual, by the logarithm: their median and deviation."""
_WHOLE = 2.0
"""How much likelier it is thought to be that most of the error goes away: the exponent of r."""
_FLAT = 0.1
"""How likely it is thought to be that nothing is learnt at all (r = 0)."""
_MISFIT, _OFF = 0.03, 0.35
"""How far errors are from a power law by themselves, as a share of the error; and gains beyond what was
measured, by their logarithm."""
_BEYOND = 2.0
"""How many times more the logarithm of a gain may be off where the errors of the most texts are."""
_LEAST = 1e-8
"""Of a variance, as a share of the square of the largest error."""
_OVERLAP = 0.25
"""How much the models of several seeds have in common, as they are of the same texts (Nadeau and Bengio,
2003): of texts held out to texts trained on."""
_FREEDOM = 4.0
"""How much is thought to be known of the size of the noise before, in measurements."""
_DRAWS = 4_000


@dataclass(frozen=True)
class PowerLaw:
    """What is known of the errors of models of any number of texts.

    Attributes:
        texts: How many there are now (N).
        level: L, `[draws]`.
        share: r, `[draws]`.
        speed: c, `[draws]`.
        factor: By what gains are off, `[draws]`.
        off: How far the errors of the most texts were from the law, by the logarithm; 0 within their noise.
    """

    texts: int
    level: NDArray[np.float64]
    share: NDArray[np.float64]
    speed: NDArray[np.float64]
    factor: NDArray[np.float64]
    off: float = 0.0

    def errors(self, texts: float) -> NDArray[np.float64]:
        """The error with so many texts, `[draws]`."""
        gain = self.level * self.share * (1 - (texts / self.texts) ** -self.speed)
        return np.maximum(self.level - gain * (self.factor if texts > self.texts else 1.0), 0.0)

    def error(self, texts: float) -> tuple[float, float, float]:
        """The error with so many texts, and its 95 % interval."""
        return _middle(self.errors(texts))

    def gain(self, more: float) -> tuple[float, float, float]:
        """By how much so many more texts lower the error, and its 95 % interval."""
        return _middle(self.errors(self.texts) - self.errors(self.texts + more))


def fit_power_law(sizes: NDArray[np.int64], errors: NDArray[np.float64], texts: int) -> PowerLaw:
    """A power law through measured errors.

    Args:
        sizes: Texts that models were trained on, `[sizes]`, three or more.
        errors: Of these models, `[seeds, sizes]`; those of a seed on the same other texts.
        texts: How many there are now.
    """
    seeds = len(errors)
    means = errors.mean(axis=0)
    away = errors - errors.mean(axis=1, keepdims=True) - means + means.mean()
    # The fewer the texts, the more it matters which; the variances of all sizes are pooled under that.
    shape = sizes.max() / sizes
    pooled = (away**2 / shape).sum() / max((seeds - 1) * (len(sizes) - 1), 1)
    variances = (
        pooled * shape * (1 / seeds + _OVERLAP) + (_MISFIT * means) ** 2 + _LEAST * means.max() ** 2 + 1e-30
    )
    share, speed = (own.ravel() for own in np.meshgrid(_SHARES, _SPEEDS, indexing="ij"))
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
    said = float(np.median(level * curves[drawn, -1]))
    away_from_it = abs(last - said) > max(2 * noise, 2 * _MISFIT * said) and min(last, said) > 0
    off = float(np.log(last / said)) if away_from_it else 0.0
    factor = np.exp((_OFF + _BEYOND * abs(off)) * chance.standard_normal(_DRAWS))
    return PowerLaw(texts, level * np.exp(off), share[drawn], speed[drawn], factor, off)


def _middle(values: NDArray[np.float64]) -> tuple[float, float, float]:
    low, middle, high = np.quantile(values, [0.025, 0.5, 0.975])
    return float(middle), float(low), float(high)
