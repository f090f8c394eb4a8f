"""Callbacks that follow a training run, for example to send its scores to an experiment tracker."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from headwise.core.config import JsonMapping

if TYPE_CHECKING:
    from headwise.training.run_state import RunProgress


@dataclass(frozen=True)
class EpochReport:
    """The report of a run after each update and each epoch.

    Attributes:
        progress: The counters so far.
        batches: Number of batches in this epoch.
        texts: Number of training texts in this epoch.
        loss: Mean loss of this epoch's texts so far.
        texts_per_second: Training speed in this epoch and session.
        scores: Dev scores after an epoch; None after an update.
        until: Number of epochs of a refit, which has no scores; None otherwise.
        part: Which of several training runs it is, in words; empty if there is one.
        scored: What the scores are called in messages: "dev", or "fold" where the fold is held out.
    """

    progress: "RunProgress"
    batches: int
    texts: int
    loss: float
    texts_per_second: float
    scores: dict[str, float] | None = None
    until: int | None = None
    part: str = ""
    scored: str = "dev"


class TrainingCallback(Protocol):
    """An object that follows a training run.

    All calls come from the process and the thread of the training run. An exception ends the run.
    """

    def on_start(self, settings: JsonMapping) -> None:
        """Receives the settings, as the sections of a recipe, before the first epoch."""
        ...

    def on_epoch(self, epoch: int, scores: Mapping[str, float], part: str) -> None:
        """Receives the scores after an epoch.

        Args:
            epoch: The number of the epoch, from 1.
            scores: The training `loss` and the dev scores.
            part: Which of several training runs it is, in words, for example a fold of cross-fitting; empty
                if there is one run.
        """
        ...

    def on_end(self, metrics: JsonMapping) -> None:
        """Receives the scores of the finished model, as its folder stores them: `dev`, and `test` if there
        are test items."""
        ...


METHODS = ("on_start", "on_epoch", "on_end")


def check_callbacks(callbacks: Sequence[TrainingCallback]) -> None:
    """Check callbacks before a training run, so that it does not fail at its end.

    Raises:
        TypeError: They are no list, or one of them lacks a method.
    """
    if not isinstance(callbacks, Sequence):
        raise TypeError(f"callbacks is {callbacks!r:.80}; expected a list of objects")
    for place, callback in enumerate(callbacks):
        if missing := [name for name in METHODS if not callable(getattr(callback, name, None))]:
            raise TypeError(
                f"callbacks[{place}] is {callback!r:.80} without {' and '.join(missing)}; expected an "
                f"object with the methods {', '.join(METHODS)}, which may do nothing"
            )


def notifying(
    callbacks: Sequence[TrainingCallback], report: Callable[[EpochReport], None]
) -> Callable[[EpochReport], None]:
    """A function that passes reports to `report`, and those that end an epoch to the callbacks, too."""

    def show(done: EpochReport) -> None:
        report(done)
        if done.scores is not None:
            scores = {"loss": done.loss, **done.scores}
            for callback in callbacks:
                callback.on_epoch(done.progress.epoch + 1, scores, done.part)

    return show
