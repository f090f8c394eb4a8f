"""Who is told what a verb does: nobody, unless a terminal listens."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headwise.models.evaluation.report_messages import ReportMessage

ProgressCallback = Callable[[int, int], None]
"""Is told how many items are done, and the line of the last (or how many there are)."""


class Reporter:
    """Hears nothing; to be inherited from by who wants to."""

    def note(self, text: str) -> None:
        """Is told something of interest."""

    def notes(self, texts: Iterable[str]) -> None:
        """Is told several things of interest."""
        for text in texts:
            self.note(text)

    def warn(self, text: str) -> None:
        """Is told what may be wrong."""

    @contextmanager
    def training(self, recipe: Any, headline: str, unit: str) -> Iterator[Callable[[Any], None]]:
        """Surrounds a training; what it gives is called with a `headwise.training.loop.EpochReporter`
        after each update and each epoch.

        Args:
            recipe: The settings.
            headline: The dev score that matters.
            unit: What is trained on.
        """
        yield lambda _: None

    def stage(self, text: str) -> None:
        """Is told what is done in a training besides its epochs."""

    @contextmanager
    def reading(self, file: Path, resumed: int, *, shown: bool) -> Iterator[ProgressCallback]:
        """Surrounds the predictions of a file; `resumed` items of it were predicted by an earlier run."""
        yield lambda _items, _line: None

    @contextmanager
    def teacher_progress(self) -> Iterator[ProgressCallback]:
        """Surrounds the work of a teacher; what it gives is told how many texts are read, and of how
        many."""
        yield lambda _texts, _all: None

    def remark(self, remark: "ReportMessage") -> None:
        """Is told either."""
        (self.warn if remark.warning else self.note)(remark.text)


NULL_REPORTER = Reporter()
