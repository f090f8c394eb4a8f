"""Fitted: a trained model with its training history and dev scores, for any task.

Memoization of fits that training runs share: a search trains many encoders with the same linear
model.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, TypeVar

from headwise.text.vocabulary import Coverage
from headwise.training.cross_fitting import OutOfFold
from headwise.training.run_config import RunConfig
from headwise.training.run_state import RunProgress


@dataclass(frozen=True)
class PostTrainingFit:
    """The dev scores after the last fit (ensemble weights, temperature, thresholds).

    Attributes:
        dev: Dev scores of the whole model.
        calibration: See `TrainResult`.
    """

    dev: dict[str, Any]
    calibration: tuple[float, float] | None = None


class ModelEnsemble:
    """The members of a model and their weights, fitted after the last epoch. This base class is for a
    network alone, of which only the dev scores are reported.

    Args:
        score: Computes the dev scores of the model.
    """

    def __init__(self, score: Callable[[], dict[str, Any]]):
        self.score = score

    def fit(self, crossed: OutOfFold | None = None) -> PostTrainingFit:
        """Fit the other members on the training items, and ensemble weights, calibration and thresholds on
        held-out outputs of the network.

        Args:
            crossed: Out-of-fold outputs, for a model trained on all items; None: the outputs for dev.
        """
        return PostTrainingFit(self.score())

    def refit(self, first: Any) -> None:
        """Fit the other members of a model that was trained again on more items, and take over what the
        first ensemble fitted on held-out outputs."""


@dataclass(frozen=True)
class TrainResult:
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
    progress: RunProgress
    coverage: Coverage | None
    dev: dict[str, Any]
    calibration: tuple[float, float] | None = None
    refit: bool = False

    def metrics(self) -> dict[str, Any]:
        """The metrics section of the model folder."""
        return {"dev": self.dev, **calibration_json(self.calibration)}

    def training(self, recipe: RunConfig, **more: Any) -> dict[str, Any]:
        """The training section of the model folder."""
        return {
            "recipe": recipe.to_json(),
            **more,
            "history": self.progress.history,
            "best_epoch": self.progress.best_epoch + 1,
            "seconds": self.progress.seconds,
        }


def calibration_json(errors: tuple[float, float] | None) -> dict[str, Any]:
    """Calibration errors as stored in model folders; see `TrainResult.calibration`."""
    if errors is None:
        return {}
    before, after = errors
    calibration = {"expected_calibration_error_before": before, "expected_calibration_error_after": after}
    return {"calibration": calibration}


Result = TypeVar("Result")

_cache: ContextVar[dict[str, Any] | None] = ContextVar("cache", default=None)


@contextmanager
def memoizing(cache: dict[str, Any]) -> Iterator[None]:
    """Memoize `memoized` fits in a dictionary within this context."""
    token = _cache.set(cache)
    try:
        yield
    finally:
        _cache.reset(token)


def memoized(fit: Callable[..., Result], *arguments: Any, **named: Any) -> Result:
    """The result of a deterministic function, memoized within `memoizing`; each caller gets a copy, as
    models are changed in place."""
    cache = _cache.get()
    if cache is None:
        return fit(*arguments, **named)
    import joblib  # slow to load, and a training by itself does without

    key = f"{fit.__module__}.{fit.__qualname__} {joblib.hash((arguments, named))}"
    if key not in cache:
        cache[key] = fit(*arguments, **named)
    return deepcopy(cache[key])
