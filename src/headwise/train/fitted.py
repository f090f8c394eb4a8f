"""Fitted: a trained model with its training history and dev scores, for any task."""

from dataclasses import dataclass
from typing import Any

from headwise.features.vectors import Coverage
from headwise.train.recipe import Recipe
from headwise.train.state import Progress


@dataclass(frozen=True)
class Finished:
    """The dev scores after the last fit (ensemble weights, temperature, thresholds).

    Attributes:
        dev: Dev scores of the whole model.
        calibration: See `Fitted`.
        refit_state: What a refit on all texts takes over from this fit.
    """

    dev: dict[str, Any]
    calibration: tuple[float, float] | None = None
    refit_state: Any = None


@dataclass(frozen=True)
class Fitted:
    """A trained model with its training history and dev scores.

    Attributes:
        model: The model with its best weights, calibrated if it predicts labels.
        progress: Counters and history of the run.
        coverage: Coverage of the vocabulary by the pretrained vectors; None without vectors.
        dev: Dev scores of the whole model; those in the history are of the encoder alone.
        calibration: Expected calibration error on dev: of the encoder alone before the temperature was
            fitted, and of the whole model, cross-fitted; None for numbers.
        refit: Whether it was refitted on training and dev items together.
    """

    model: Any
    progress: Progress
    coverage: Coverage | None
    dev: dict[str, Any]
    calibration: tuple[float, float] | None = None
    refit: bool = False

    def metrics(self) -> dict[str, Any]:
        """The metrics section of the model folder."""
        return {"dev": self.dev, **calibration_json(self.calibration)}

    def training(self, recipe: Recipe, **more: Any) -> dict[str, Any]:
        """The training section of the model folder."""
        return {
            "recipe": recipe.to_json(),
            **more,
            "history": self.progress.history,
            "best_epoch": self.progress.best_epoch + 1,
            "seconds": self.progress.seconds,
        }


def calibration_json(errors: tuple[float, float] | None) -> dict[str, Any]:
    """Calibration errors as stored in model folders; see `Fitted.calibration`."""
    if errors is None:
        return {}
    before, after = errors
    calibration = {"expected_calibration_error_before": before, "expected_calibration_error_after": after}
    return {"calibration": calibration}
