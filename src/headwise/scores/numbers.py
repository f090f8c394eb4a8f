"""How good predicted numbers are."""

import math
import warnings
from dataclasses import dataclass

import numpy as np

from headwise.scores.metrics import Z, middle_of
from headwise.scores.resample import ScoreDifference

_DRAWS, _AT_ONCE = 10_000, 50


@dataclass(frozen=True)
class RegressionScores:
    """How near predicted numbers are to the true ones.

    Attributes:
        texts: How many.
        mae: Mean absolute error, in the unit of the targets.
        rmse: Root of the mean squared error, in the unit of the targets.
        pearson: Linear correlation, between -1 and 1; 0 where one side is constant.
        pearson_interval: 95 % interval of it (Fisher's z); None for fewer than 4 texts.
        spearman: Rank correlation; 0 where one side is constant.
        r2: Share of the targets' variance that is explained; 0 where the targets are constant.
        median: Of the targets: the number that is nearest to them all.
        median_mae: The mean absolute error of who always says that.
    """

    texts: int
    mae: float
    rmse: float
    pearson: float
    pearson_interval: tuple[float, float] | None
    spearman: float
    r2: float
    median: float
    median_mae: float


def score_numbers(predicted: np.ndarray, targets: np.ndarray) -> RegressionScores:
    """Scores of predicted numbers against the true ones, both `[texts]`.

    Raises:
        ValueError: There are no texts.
    """
    texts = len(targets)
    if texts == 0:
        raise ValueError("no texts to score")
    from scipy.stats import (
        NearConstantInputWarning,
        pearsonr,
        spearmanr,
    )  # slow to load, and predictions do without

    errors = predicted.astype(np.float64) - targets
    varied = texts > 1 and np.ptp(predicted) > 0 and np.ptp(targets) > 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NearConstantInputWarning)  # of scipy's, which names no file
        pearson = float(pearsonr(predicted, targets).statistic) if varied else 0.0  # type: ignore[attr-defined]
    spearman = float(spearmanr(predicted, targets).statistic) if varied else 0.0  # type: ignore[attr-defined]
    median = float(np.median(targets))
    variance = float(((targets - targets.mean()) ** 2).sum())
    return RegressionScores(
        texts=texts,
        mae=float(np.abs(errors).mean()),
        rmse=float(np.sqrt((errors**2).mean())),
        pearson=pearson,
        pearson_interval=_fisher(pearson, texts),
        spearman=spearman,
        r2=1.0 - float((errors**2).sum()) / variance if variance > 0 else 0.0,
        median=median,
        median_mae=float(np.abs(targets - median).mean()),
    )


def number_scores(
    predicted: np.ndarray, targets: np.ndarray, deviation: float, weights: np.ndarray | None = None
) -> dict[str, float]:
    """Scores on dev by name, where texts count as `weights` say (see `weighted_rates`); the loss is the
    mean squared error in units of a standard deviation."""
    squares = ((predicted.astype(np.float64) - targets) / deviation) ** 2
    loss = float(np.average(squares, weights=weights))
    if weights is None:
        scores = score_numbers(predicted, targets)
        return {**rival_scores(scores), "loss": loss}
    met = weights > 0
    said, wanted, weights = (own[met].astype(np.float64) for own in (predicted, targets, weights))
    ranks = _ranks(said, weights), _ranks(wanted, weights)
    return {
        "mae": float(np.average(np.abs(said - wanted), weights=weights)),
        "rmse": float(np.sqrt(np.average((said - wanted) ** 2, weights=weights))),
        "pearson": _correlation(said, wanted, weights),
        "spearman": _correlation(*ranks, weights),
        "loss": loss,
    }


def _correlation(first: np.ndarray, second: np.ndarray, weights: np.ndarray) -> float:
    """The linear correlation of numbers that count as weights say; 0 where one side is constant."""
    if len(weights) < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return 0.0
    one, other = (own - np.average(own, weights=weights) for own in (first, second))
    joint, own, others = (float((weights * each).sum()) for each in (one * other, one * one, other * other))
    return min(max(joint / math.sqrt(own * others), -1.0), 1.0) if own and others else 0.0


def _ranks(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The weight of all that is less than each number, and half of the weight of its equals: the mean rank
    of as many copies as the weight says, but for a constant."""
    _, number = np.unique(values, return_inverse=True)
    each = np.bincount(number, weights)
    return (each.cumsum() - each / 2)[number]


def rival_scores(scores: RegressionScores) -> dict[str, float]:
    """The scores that stand beside a model's."""
    return {name: getattr(scores, name) for name in ("mae", "rmse", "pearson", "spearman")}


def _fisher(correlation: float, texts: int) -> tuple[float, float] | None:
    if texts < 4:
        return None
    z = math.atanh(min(max(correlation, -1 + 1e-12), 1 - 1e-12))
    width = Z / math.sqrt(texts - 3)
    return math.tanh(z - width), math.tanh(z + width)


def compare_errors(first: np.ndarray, second: np.ndarray, targets: np.ndarray) -> ScoreDifference:
    """Paired comparison of two models' numbers `[texts]`: by how much the mean absolute error of the first
    is smaller, its 95 % bootstrap interval over texts, and how often it would be at least as large if it
    were chance which of the two said what of a text."""
    gains = np.abs(second - targets) - np.abs(first - targets)
    random = np.random.Generator(np.random.PCG64(0))
    texts, found = len(gains), float(gains.mean())
    means, extreme = [], 0
    for _ in range(0, _DRAWS, _AT_ONCE):
        means.append(gains[random.integers(0, texts, (_AT_ONCE, texts))].mean(1))
        signs = random.integers(0, 2, (_AT_ONCE, texts)) * 2 - 1
        extreme += int((np.abs((signs * gains).mean(1)) >= abs(found) - 1e-12).sum())
    return ScoreDifference(found, middle_of(np.concatenate(means)), (extreme + 1) / (_DRAWS + 1))
