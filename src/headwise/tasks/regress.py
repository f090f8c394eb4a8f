"""Regression: a number for each text or pair, and how good such numbers are."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from torch import Tensor

from headwise.config import check_range
from headwise.errors import ConfigError
from headwise.tasks.classify import ClassifierConfig


@dataclass(frozen=True)
class RegressorConfig:
    """The regressor on top of the text vector."""

    hidden: int = 300
    """Hidden features of the two-layer regressor."""
    dropout: float = 0.3
    """On the hidden layer, while training."""
    normalize: Literal["none", "batch", "layer"] = "none"
    """Normalise the text vector first: over the batch, or over its features."""

    def __post_init__(self) -> None:
        check_range(self, "hidden", low=1)
        check_range(self, "dropout", low=0, high=1, open=True)

    @property
    def perceptron(self) -> ClassifierConfig:
        """The same as the settings of a two-layer perceptron."""
        return ClassifierConfig(self.hidden, self.dropout, self.normalize)


@dataclass(frozen=True)
class Scale:
    """From targets to numbers of mean 0 and deviation 1, which a network learns more easily, and back.

    Attributes:
        mean: Of the training targets.
        deviation: Their standard deviation, above 0.
    """

    mean: float
    deviation: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.mean) and math.isfinite(self.deviation) and self.deviation > 0):
            raise ConfigError(
                f"the targets' mean {self.mean!r} and deviation {self.deviation!r} must be finite numbers, "
                "the deviation above 0"
            )

    @classmethod
    def of(cls, targets: np.ndarray) -> "Scale":
        """The scale of training targets, `[texts]`; equal targets have the deviation 1."""
        return cls(float(targets.mean()), float(targets.std()) or 1.0)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Scale":
        """Undo `to_json`.

        Raises:
            ConfigError: The numbers are missing, or none that targets can have.
        """
        found = data.get("mean"), data.get("deviation")
        for value in found:
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise ConfigError("mean and deviation of the targets are missing or of the wrong type")
        return cls(float(data["mean"]), float(data["deviation"]))

    def to_json(self) -> dict[str, float]:
        return {"mean": self.mean, "deviation": self.deviation}

    def standardize(self, targets: np.ndarray) -> np.ndarray:
        """`[texts]`, float32."""
        return ((targets - self.mean) / self.deviation).astype(np.float32)

    def restore(self, outputs: np.ndarray) -> np.ndarray:
        """`[texts]`, float64."""
        return outputs.astype(np.float64) * self.deviation + self.mean


def squared_error(outputs: Tensor, targets: Tensor) -> Tensor:
    """Squared error of each text, `[texts]`.

    Args:
        outputs: `[texts, 1]`.
        targets: `[texts]`, standardised.
    """
    return (outputs.float()[:, 0] - targets).square()


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
    """

    texts: int
    mae: float
    rmse: float
    pearson: float
    pearson_interval: tuple[float, float] | None
    spearman: float
    r2: float


def score_numbers(predicted: np.ndarray, targets: np.ndarray) -> RegressionScores:
    """Scores of predicted numbers against the true ones, both `[texts]`.

    Raises:
        ValueError: There are no texts.
    """
    texts = len(targets)
    if texts == 0:
        raise ValueError("no texts to score")
    from scipy.stats import pearsonr, spearmanr  # slow to load, and predictions do without

    errors = predicted.astype(np.float64) - targets
    varied = texts > 1 and np.ptp(predicted) > 0 and np.ptp(targets) > 0
    pearson = float(pearsonr(predicted, targets).statistic) if varied else 0.0  # type: ignore[attr-defined]
    spearman = float(spearmanr(predicted, targets).statistic) if varied else 0.0  # type: ignore[attr-defined]
    variance = float(((targets - targets.mean()) ** 2).sum())
    return RegressionScores(
        texts=texts,
        mae=float(np.abs(errors).mean()),
        rmse=float(np.sqrt((errors**2).mean())),
        pearson=pearson,
        pearson_interval=_fisher(pearson, texts),
        spearman=spearman,
        r2=1.0 - float((errors**2).sum()) / variance if variance > 0 else 0.0,
    )


def number_scores(predicted: np.ndarray, targets: np.ndarray, scale: Scale) -> dict[str, float]:
    """Scores on dev by name; the loss is the mean squared error of standardised numbers."""
    scores = score_numbers(predicted, targets)
    return {
        "mae": scores.mae,
        "rmse": scores.rmse,
        "pearson": scores.pearson,
        "spearman": scores.spearman,
        "loss": (scores.rmse / scale.deviation) ** 2,
    }


def rival_scores(scores: RegressionScores) -> dict[str, float]:
    """The scores that stand beside a model's."""
    return {name: getattr(scores, name) for name in ("mae", "rmse", "pearson", "spearman")}


def _fisher(correlation: float, texts: int) -> tuple[float, float] | None:
    if texts < 4:
        return None
    z = math.atanh(min(max(correlation, -1 + 1e-12), 1 - 1e-12))
    width = 1.959964 / math.sqrt(texts - 3)
    return math.tanh(z - width), math.tanh(z + width)
