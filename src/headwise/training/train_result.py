"""The result of a training run, and what is fitted after its last epoch."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Generic

from headwise.core.config import JsonObject
from headwise.nn.networks.trained_models import ModelType
from headwise.text.vocabulary import Coverage
from headwise.training.cross_fitting import OutOfFold
from headwise.training.run_state import RunProgress
from headwise.training.settings import RunConfig


@dataclass(frozen=True)
class PostTrainingFit:
    """The dev scores after the last fit (ensemble weights, temperature, thresholds).

    Attributes:
        dev: Dev scores of the whole model.
        calibration: See `TrainResult`.
    """

    dev: JsonObject
    calibration: tuple[float, float] | None = None


class ModelEnsembleFitter:
    """Fits what a model has besides its trained network: the linear member, the ensemble weights, the
    calibration. The model itself predicts. This base class is for a network alone, of which only the dev
    scores are computed.

    Args:
        score: Computes the dev scores of the model.
    """

    def __init__(self, score: Callable[[], JsonObject]):
        self.score = score

    def encoder_is_unused(self) -> bool:
        """Whether the encoder, as it was when the objective evaluated it last, would have no weight in an
        ensemble whose weights are fitted on dev."""
        return False

    def fit(self, out_of_fold: OutOfFold | None = None) -> PostTrainingFit:
        """Fit the other members on the training items, and ensemble weights, calibration and thresholds on
        held-out outputs of the network.

        Args:
            out_of_fold: Out-of-fold outputs, for a model trained on all items; None: the outputs for dev.
        """
        return PostTrainingFit(self.score())

    def refit(self, first: Any) -> None:
        """Fit the other members of a model that was trained again on more items, and take over what the
        first ensemble fitted on held-out outputs."""


@dataclass(frozen=True)
class HeldOutPart:
    """The items that chose epoch, ensemble weights and calibration, and that the dev scores are about.

    Attributes:
        items: Their number; None where items are not counted, as of running text.
        folds: Number of folds of which each was held out once; 0 for dev items.
    """

    items: int | None = None
    folds: int = 0

    @property
    def on(self) -> str:
        """`on dev` or `out of fold`, for messages."""
        return "out of fold" if self.folds else "on dev"

    def to_json(self) -> JsonObject:
        """The numbers, as a JSON object."""
        counts = {"texts": self.items, "folds": self.folds or None}
        return {name: count for name, count in counts.items() if count is not None}


@dataclass(frozen=True)
class TrainResult(Generic[ModelType]):
    """A trained model with its training history and dev scores.

    Attributes:
        model: The model with its best weights, calibrated if it predicts labels.
        progress: Counters and history of the run.
        coverage: Coverage of the vocabulary by the pretrained vectors; None without vectors.
        dev: Scores of the whole model on `held_out`; those in the history are of the encoder alone.
        calibration: Expected calibration error on `held_out`: of the encoder alone before the temperature
            was fitted, and of the whole model, cross-fitted; None for numbers.
        refit: Whether it was refitted on training and dev items together.
        held_out: What the dev scores are about.
    """

    model: ModelType
    progress: RunProgress
    coverage: Coverage | None
    dev: JsonObject
    calibration: tuple[float, float] | None = None
    refit: bool = False
    held_out: HeldOutPart = HeldOutPart()

    def metrics(self) -> JsonObject:
        """The metrics section of the model folder."""
        return {"dev": self.held_out.to_json() | self.dev, **calibration_json(self.calibration)}

    def training(self, run_config: RunConfig, **more: Any) -> JsonObject:
        """The training section of the model folder."""
        previous = run_config.init_from
        started = {} if previous is None else {"name": Path(previous.name).name, "sha256": previous.digest}
        return {
            "recipe": run_config.to_json(),
            **more,
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            **({"previous": started} if started else {}),
            "history": self.progress.history,
            "best_epoch": self.progress.best_epoch + 1,
            "seconds": self.progress.seconds,
        }


def calibration_json(errors: tuple[float, float] | None) -> JsonObject:
    """Calibration errors as stored in model folders; see `TrainResult.calibration`."""
    if errors is None:
        return {}
    before, after = errors
    calibration = {"expected_calibration_error_before": before, "expected_calibration_error_after": after}
    return {"calibration": calibration}
