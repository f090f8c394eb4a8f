"""The results of training runs: a `TrainResult`, what was fitted after the last epoch, and out-of-fold
outputs.

The dev part of a small file is tiny: of 250 texts, 38 would decide the number of epochs, the ensemble
weights and the temperature. With cross-fitting (`cross_fit`), whatever is chosen after training is chosen
on out-of-fold outputs of all texts, and the last model is trained on all of them. `memoized` fits are
shared between the runs of a search, which trains many encoders with the same linear model.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from headwise.core.config import JsonObject
from headwise.data.items.dataset import items_at
from headwise.data.items.labels import evaluation_mask
from headwise.data.splits.data_parts import DataParts
from headwise.nn.networks.trained_models import ModelType
from headwise.text.vocabulary import Coverage
from headwise.training.loop import STATE, EpochReport, fold_folder
from headwise.training.run_state import RunProgress
from headwise.training.settings import RunConfig, TrainConfig


@dataclass(frozen=True)
class OutOfFold:
    """The out-of-fold outputs of the networks trained without each fold.

    Attributes:
        outputs: Out-of-fold outputs of each item that is in a fold, `[held, outputs]`.
        held: Indices of these items.
        progress: Counters of the runs; the history is the mean over the folds, and the best epoch is chosen
            by it.
    """

    outputs: np.ndarray
    held: np.ndarray
    progress: RunProgress


def cross_fit(
    learn: Callable[..., Any],
    all_parts: DataParts,
    config: TrainConfig,
    folder: Path,
    *,
    resume: bool,
    report: Callable[[EpochReport], None],
) -> OutOfFold:
    """Train a model on the complement of each fold, and collect the out-of-fold outputs.

    Args:
        learn: Trains a model on parts in a folder; its result has `model`, `objective` and `progress`.
        all_parts: Data with all items in `train`.
        config: Gives the number of folds, their seed, and the score that chooses the best epoch.
        folder: Folder of the run. The first fold uses it; those of the other folds are inside.
        resume: Whether to resume the run in the folder.
        report: Called after each update and each epoch.
    """
    items = all_parts.train
    numbers = np.array(all_parts.item_type.folds(items, config.folds, config.seed))
    numbers[~evaluation_mask(items)] = -1  # never held out
    used = np.unique(numbers[numbers >= 0])  # with few distinct items, some folds are empty
    folds = len(used)
    outputs: dict[int, np.ndarray] = {}
    runs = []
    for fold in range(folds):
        part = f"fold {fold + 1} of {folds}, trained on the other folds"

        def report_fold(done: EpochReport, part: str = part) -> None:
            report(replace(done, part=part))

        held_out, training = (
            np.flatnonzero(rows) for rows in (numbers == used[fold], numbers != used[fold])
        )
        parts = replace(all_parts, train=items_at(items, training), dev=items_at(items, held_out))
        place = fold_folder(folder, fold)
        goes_on = resume and (fold == 0 or (place / STATE).exists())
        done = learn(parts, place, resume=goes_on, report=report_fold)
        outputs |= dict(zip(held_out.tolist(), done.objective.held_out(), strict=True))
        runs.append(done.progress)
    held = np.array(sorted(outputs))
    return OutOfFold(np.stack([outputs[number] for number in held]), held, _mean_progress(runs, config))


def _mean_progress(runs: Sequence[RunProgress], config: TrainConfig) -> RunProgress:
    """Average the histories over the epochs that all runs have."""
    history = [
        {name: float(np.mean([entry[name] for entry in entries])) for name in entries[0]}
        for entries in zip(*(run.history for run in runs), strict=False)
    ]
    best = int(np.argmax([config.selection_score(epoch, entry) for epoch, entry in enumerate(history)]))
    for number, entry in enumerate(history):
        entry["epoch"] = number + 1
    seconds = sum(run.seconds for run in runs)
    return replace(runs[0], history=history, best_epoch=best, seconds=seconds)


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
class TrainResult(Generic[ModelType]):
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

    model: ModelType
    progress: RunProgress
    coverage: Coverage | None
    dev: JsonObject
    calibration: tuple[float, float] | None = None
    refit: bool = False

    def metrics(self) -> JsonObject:
        """The metrics section of the model folder."""
        return {"dev": self.dev, **calibration_json(self.calibration)}

    def training(self, run_config: RunConfig, **more: Any) -> JsonObject:
        """The training section of the model folder."""
        return {
            "recipe": run_config.to_json(),
            **more,
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


Result = TypeVar("Result")

_cache: ContextVar[JsonObject | None] = ContextVar("cache", default=None)


@contextmanager
def memoizing(cache: JsonObject) -> Iterator[None]:
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
