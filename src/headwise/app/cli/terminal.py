"""The terminal as a listener: prints notes and warnings, and shows progress."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headwise.app.cli.console import note, warn
from headwise.app.cli.progress import TextProgress
from headwise.app.reporter import ProgressCallback, Reporter

if TYPE_CHECKING:
    from headwise.app.cli.train_display import TrainDisplay


class TerminalReporter(Reporter):
    """A listener that prints to standard error."""

    _display: "TrainDisplay | None" = None

    def note(self, text: str) -> None:
        note(text)

    def warn(self, text: str) -> None:
        warn(text)

    def stage(self, text: str) -> None:
        if self._display is not None:
            self._display.stage(text)

    @contextmanager
    def training(self, recipe: Any, headline: str, unit: str) -> Iterator[Callable[[Any], None]]:
        from headwise.app.cli.train_display import TrainDisplay  # with it comes torch

        with TrainDisplay(recipe.train, headline, unit) as self._display:
            yield self._display.show
        self._display = None

    @contextmanager
    def reading(self, file: Path, resumed: int, *, shown: bool) -> Iterator[ProgressCallback]:
        with TextProgress(file, resumed=resumed, show=shown) as progress:
            yield progress.update

    @contextmanager
    def teacher_progress(self) -> Iterator[ProgressCallback]:
        with TextProgress(None) as progress:
            yield progress.update_of
