"""Metrics of a regression model, with confidence intervals."""

import math
from dataclasses import dataclass

import numpy as np

from headwise.metrics.classification_scores import NORMAL_QUANTILE, central_interval
from headwise.metrics.resampling import ScoreDifference

_DRAWS, _AT_ONCE = 10_000, 50


@dataclass(frozen=True)
class RegressionScores:
    """The scores of a regression model.

    Attributes:
        texts: Number of texts.
        mae: Mean absolute error, in the unit of the targets.
        rmse: Root of the mean squared error, in the unit of the targets.
        pearson: Pearson correlation, between -1 and 1; 0 where predictions or targets are constant.
        pearson_interval: 95 % interval of the Pearson correlation (Fisher's z); None for fewer than 4
            texts.
        spearman: Spearman rank correlation; 0 where predictions or targets are constant.
        r2: Fraction of the targets' variance that is explained; 0 where the targets are constant.
        median: The median of the targets.
        median_mae: The mean absolute error of always predicting the median.
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
    errors = predicted.astype(np.float64) - targets
    first, second, ones = predicted.astype(np.float64), targets.astype(np.float64), np.ones(texts)
    pearson = _correlation(first, second, ones)
    spearman = _correlation(_ranks(first, ones), _ranks(second, ones), ones)
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
    """Dev scores by name, with text weights (see `weighted_rates`); the loss is the mean squared error in
    units of `deviation`."""
    squares = ((predicted.astype(np.float64) - targets) / deviation) ** 2
    loss = float(np.average(squares, weights=weights))
    if weights is None:
        scores = score_numbers(predicted, targets)
        return {**comparison_scores(scores), "loss": loss}
    met = weights > 0
    counted_predictions, counted_targets, weights = (
        values[met].astype(np.float64) for values in (predicted, targets, weights)
    )
    ranks = _ranks(counted_predictions, weights), _ranks(counted_targets, weights)
    return {
        "mae": float(np.average(np.abs(counted_predictions - counted_targets), weights=weights)),
        "rmse": float(np.sqrt(np.average((counted_predictions - counted_targets) ** 2, weights=weights))),
        "pearson": _correlation(counted_predictions, counted_targets, weights),
        "spearman": _correlation(*ranks, weights),
        "loss": loss,
    }


def _correlation(first: np.ndarray, second: np.ndarray, weights: np.ndarray) -> float:
    """The weighted Pearson correlation of numbers, `[texts]`; 0 where one side is constant."""
    if len(weights) < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return 0.0
    first_centred, second_centred = (
        values - np.average(values, weights=weights) for values in (first, second)
    )
    covariance, first_variance, second_variance = (
        float((weights * product).sum())
        for product in (
            first_centred * second_centred,
            first_centred * first_centred,
            second_centred * second_centred,
        )
    )
    if not (first_variance and second_variance):
        return 0.0
    product = first_variance * second_variance
    # The product of numbers that are very large, or very small, has no room in a float.
    fits = 0 < product < math.inf
    root = math.sqrt(product) if fits else math.sqrt(first_variance) * math.sqrt(second_variance)
    return min(max(covariance / root, -1.0), 1.0)


def _ranks(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The weighted mid-rank of each value, up to a constant: the total weight of smaller values plus half
    the weight of equal values."""
    _, number = np.unique(values, return_inverse=True)
    value_weights = np.bincount(number, weights)
    return (value_weights.cumsum() - value_weights / 2)[number]


def comparison_scores(scores: RegressionScores) -> dict[str, float]:
    """The scores that are reported for comparison systems."""
    return {name: getattr(scores, name) for name in ("mae", "rmse", "pearson", "spearman")}


def _fisher(correlation: float, texts: int) -> tuple[float, float] | None:
    if texts < 4:
        return None
    z = math.atanh(min(max(correlation, -1 + 1e-12), 1 - 1e-12))
    width = NORMAL_QUANTILE / math.sqrt(texts - 3)
    return math.tanh(z - width), math.tanh(z + width)


def compare_errors(first: np.ndarray, second: np.ndarray, targets: np.ndarray) -> ScoreDifference:
    """Paired comparison of two models' predicted numbers, `[texts]`: the mean absolute error of the second
    minus that of the first, its 95 % bootstrap interval over texts, and the p value of an approximate
    randomisation test."""
    gains = np.abs(second - targets) - np.abs(first - targets)
    random = np.random.Generator(np.random.PCG64(0))
    texts, gain = len(gains), float(gains.mean())
    rounding = 1e-12 * float(np.abs(gains).mean())  # differences that are equal up to it are equal
    means, extreme = [], 0
    for _ in range(0, _DRAWS, _AT_ONCE):
        means.append(gains[random.integers(0, texts, (_AT_ONCE, texts))].mean(1))
        signs = random.integers(0, 2, (_AT_ONCE, texts)) * 2 - 1
        extreme += int((np.abs((signs * gains).mean(1)) >= abs(gain) - rounding).sum())
    return ScoreDifference(gain, central_interval(np.concatenate(means)), (extreme + 1) / (_DRAWS + 1))
