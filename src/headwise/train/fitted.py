"""Fitted: a trained model and what is to be said of its training, whatever it gives texts."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from headwise.features.vectors import Coverage
from headwise.train.state import Progress

AnyModel = TypeVar("AnyModel")


@dataclass(frozen=True)
class Fitted(Generic[AnyModel]):
    """A trained model and what is to be said of its training.

    Attributes:
        model: With its best weights, and calibrated if it gives labels.
        progress: Counters and history of the run.
        coverage: Of the vocabulary by the pretrained vectors; None without vectors.
        dev: Scores of the whole model on dev; those in the history are of the encoder alone.
        calibration: Calibration error on dev of the encoder alone, before the temperature was fitted, and
            of the whole model; None where the model gives numbers.
    """

    model: AnyModel
    progress: Progress
    coverage: Coverage | None
    dev: dict[str, float]
    calibration: tuple[float, float] | None = None

    def metrics(self, **more: Any) -> dict[str, Any]:
        """What a model folder says of it, and of what has a `to_json` in `more`, where that is not None."""
        found: dict[str, Any] = {"dev": self.dev}
        if self.calibration is not None:
            before, after = self.calibration
            found["calibration"] = {
                "expected_calibration_error_before": before,
                "expected_calibration_error_after": after,
            }
        return found | {name: own.to_json() for name, own in more.items() if own is not None}
