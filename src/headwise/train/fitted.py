"""Fitted: a trained model and what is to be said of its training, whatever it gives texts."""

from dataclasses import dataclass
from typing import Any

from headwise.features.vectors import Coverage
from headwise.train.recipe import Recipe
from headwise.train.state import Progress


@dataclass(frozen=True)
class Finished:
    """What was found on dev when what is fitted after the last epoch was in place.

    Attributes:
        dev: Scores of the whole model.
        calibration: See `Fitted`.
        kept: What a second training on all texts takes over.
    """

    dev: dict[str, Any]
    calibration: tuple[float, float] | None = None
    kept: Any = None


@dataclass(frozen=True)
class Fitted:
    """A trained model and what is to be said of its training.

    Attributes:
        model: With its best weights, and calibrated if it gives labels.
        progress: Counters and history of the run.
        coverage: Of the vocabulary by the pretrained vectors; None without vectors.
        dev: Scores of the whole model on dev; those in the history are of the encoder alone.
        calibration: Calibration error on dev of the encoder alone, before the temperature was fitted, and
            of the whole model with temperatures from other texts; None where the model gives numbers.
        refit: It was trained again, on training and dev items together.
    """

    model: Any
    progress: Progress
    coverage: Coverage | None
    dev: dict[str, Any]
    calibration: tuple[float, float] | None = None
    refit: bool = False

    def metrics(self) -> dict[str, Any]:
        """What a model folder says of it."""
        return {"dev": self.dev, **calibration_json(self.calibration)}

    def training(self, recipe: Recipe, **more: Any) -> dict[str, Any]:
        """What a model folder says of the training."""
        return {
            "recipe": recipe.to_json(),
            **more,
            "history": self.progress.history,
            "best_epoch": self.progress.best_epoch + 1,
            "seconds": self.progress.seconds,
        }


def calibration_json(errors: tuple[float, float] | None) -> dict[str, Any]:
    """What a model folder says of calibration errors, see `Fitted.calibration`."""
    if errors is None:
        return {}
    before, after = errors
    own = {"expected_calibration_error_before": before, "expected_calibration_error_after": after}
    return {"calibration": own}
