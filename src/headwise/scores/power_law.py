"""How much more texts are worth: a power law through the errors of models of fewer texts, and how far it
can be trusted.

The error of a model of n texts is taken to be `L (1 - r + r (n / N)^-c)`: L that of all N texts, of which
the share r would go away with endless texts, the faster the larger c. What is not known of r and c is not
guessed: all of them are weighed by how likely they make the errors that were measured (by a Student t
distribution, as the size of the noise is not known either), and what is said of more texts is what all of
them together say. (The best one alone says too much: its bootstrap interval held the truth far too seldom.)
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_SHARES = np.linspace(0, 1, 41)
_SPEEDS = np.geomspace(0.05, 2.0, 33)
_USUAL, _SPREAD = 0.4, 0.7
"""The speeds that are usual, by the logarithm: their median and deviation."""
_MISFIT = 0.02
"""How far errors are from a power law by themselves, as a share of the error."""
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
    """

    texts: int
    level: NDArray[np.float64]
    share: NDArray[np.float64]
    speed: NDArray[np.float64]

    def errors(self, texts: float) -> NDArray[np.float64]:
        """The error with so many texts, `[draws]`."""
        return self.level * (1 - self.share + self.share * (texts / self.texts) ** -self.speed)

    def error(self, texts: float) -> tuple[float, float, float]:
        """The error with so many texts, and its 95 % interval."""
        return _middle(self.errors(texts))

    def gain(self, more: float) -> tuple[float, float, float]:
        """By how much so many more texts lower the error, and its 95 % interval."""
        return _middle(self.errors(self.texts) - self.errors(self.texts + more))


def fit_power_law(
    sizes: NDArray[np.int64], errors: NDArray[np.float64], texts: int, *, seed: int = 0
) -> PowerLaw:
    """A power law through measured errors.

    Args:
        sizes: Texts that models were trained on, `[sizes]`, three or more.
        errors: Of these models, `[seeds, sizes]`; those of a seed on the same other texts.
        texts: How many there are now.
        seed: Of the draws.
    """
    seeds = len(errors)
    means = errors.mean(axis=0)
    away = errors - errors.mean(axis=1, keepdims=True) - means + means.mean()
    # The fewer the texts, the more it matters which; the variances of all sizes are pooled under that.
    shape = sizes.max() / sizes
    pooled = (away**2 / shape).sum() / max((seeds - 1) * (len(sizes) - 1), 1)
    variances = pooled * shape / seeds + (_MISFIT * means) ** 2 + 1e-8
    share, speed = (own.ravel() for own in np.meshgrid(_SHARES, _SPEEDS, indexing="ij"))
    curves = 1 - share[:, None] + share[:, None] * (sizes / texts) ** -speed[:, None]
    precision = (curves**2 / variances).sum(axis=1)
    levels = (curves * means / variances).sum(axis=1) / precision
    squares = ((means - levels[:, None] * curves) ** 2 / variances).sum(axis=1) + _FREEDOM
    freedom = len(sizes) - 1 + _FREEDOM
    prior = -0.5 * (np.log(speed / _USUAL) / _SPREAD) ** 2
    likely = prior - 0.5 * freedom * np.log(squares) - 0.5 * np.log(precision)
    weights = np.exp(likely - likely.max())
    chance = np.random.Generator(np.random.PCG64(seed))
    drawn = chance.choice(len(weights), _DRAWS, p=weights / weights.sum())
    scale = np.sqrt(squares[drawn] / freedom / precision[drawn])
    level = np.maximum(levels[drawn] + scale * chance.standard_t(freedom, _DRAWS), 0.0)
    return PowerLaw(texts, level, share[drawn], speed[drawn])


def _middle(values: NDArray[np.float64]) -> tuple[float, float, float]:
    low, middle, high = np.quantile(values, [0.025, 0.5, 0.975])
    return float(middle), float(low), float(high)
