"""Reporters: receive messages and progress of a workflow; the default ignores them."""

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headwise.models.report_parts import ReportMessage
    from headwise.training.callbacks import EpochReport
    from headwise.training.settings import RunConfig

ProgressCallback = Callable[[int, int], None]
"""Receives the number of finished items, and the line of the last (or the total)."""


class Reporter:
    """A reporter that ignores everything; subclasses override what they report."""

    def note(self, text: str) -> None:
        """Receive a note."""

    def notes(self, texts: Iterable[str]) -> None:
        """Receive several notes."""
        for text in texts:
            self.note(text)

    def warn(self, text: str) -> None:
        """Receive a warning."""

    @contextmanager
    def working(self, text: str) -> Generator[None]:
        """Context of a step that takes long and reports nothing, with its description."""
        yield

    @contextmanager
    def training(
        self, run_config: "RunConfig", primary_metric: str, unit: str
    ) -> "Generator[Callable[[EpochReport], None]]":
        """Context of a training run. Its value is called with a `headwise.training.callbacks.EpochReport`
        after each update and each epoch.

        Args:
            run_config: The settings.
            primary_metric: The primary metric on dev.
            unit: The unit of the training items.
        """
        yield lambda _: None

    def stage(self, text: str) -> None:
        """Receive the name of a step of a training run other than an epoch, or of another command."""

    @contextmanager
    def reading(self, file: Path, resumed: int, *, shown: bool) -> Generator[ProgressCallback]:
        """Context of the predictions of a file; an interrupted run has predicted `resumed` items of it."""
        yield lambda _items, _line: None

    @contextmanager
    def teacher_progress(self) -> Generator[ProgressCallback]:
        """Context of a teacher's predictions; its value receives the numbers of read and of all texts."""
        yield lambda _texts, _all: None

    def message(self, message: "ReportMessage") -> None:
        """Receive a message, a warning or a note."""
        (self.warn if message.warning else self.note)(message.text)


NULL_REPORTER = Reporter()
