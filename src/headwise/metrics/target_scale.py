"""Scale: the standardisation of regression targets."""

import math
from dataclasses import dataclass

import numpy as np

from headwise.core.config import JsonMapping
from headwise.core.errors import ConfigError


def decimal_text(number: float, places: int) -> str:
    """A number as text, rounded to so many decimals (below 0: to tens, hundreds ...); with an exponent
    where the decimals are many, `1.2e-14`."""
    rounded = round(number, places)
    return repr(rounded) if places > 15 else f"{rounded:.{max(places, 0)}f}"


@dataclass(frozen=True)
class Scale:
    """The standardisation of regression targets to mean 0 and standard deviation 1.

    Attributes:
        mean: The mean of the training targets.
        deviation: The standard deviation of the training targets, above 0.
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
    def of(cls, targets: np.ndarray, weights: np.ndarray | None = None) -> "Scale":
        """The scale of training targets, `[texts]`, with text weights; constant targets get the deviation
        1."""
        if weights is not None:  # targets of weight 0 may be any number, also NaN
            targets, weights = targets[weights > 0], weights[weights > 0].astype(np.float64)
        mean = np.average(targets, weights=weights)
        deviation = np.sqrt(np.average((targets - mean) ** 2, weights=weights))
        return cls(float(mean), float(deviation) or 1.0)

    def written(self, number: float) -> str:
        """A number as text, rounded to 6 significant digits of the standard deviation."""
        return decimal_text(number, 5 - math.floor(math.log10(self.deviation)))

    @classmethod
    def from_json(cls, data: JsonMapping) -> "Scale":
        """Undo `to_json`.

        Raises:
            ConfigError: The numbers are missing or invalid.
        """
        values = data.get("mean"), data.get("deviation")
        for value in values:
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise ConfigError("mean and deviation of the targets are missing or of the wrong type")
        return cls(float(data["mean"]), float(data["deviation"]))

    def to_json(self) -> dict[str, float]:
        return {"mean": self.mean, "deviation": self.deviation}

    def deviations(self, targets: np.ndarray) -> np.ndarray:
        """Standardised targets, `[texts]`, in float64, where extreme targets do not overflow."""
        return (targets.astype(np.float64) - self.mean) / self.deviation

    def standardize(self, targets: np.ndarray) -> np.ndarray:
        """Standardised targets, `[texts]`, in float32, for training."""
        return self.deviations(targets).astype(np.float32)

    def restore(self, outputs: np.ndarray) -> np.ndarray:
        """Targets of standardised numbers, `[texts]`, float64: the inverse of `standardize`."""
        return outputs.astype(np.float64) * self.deviation + self.mean
