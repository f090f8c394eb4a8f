"""The terminal as a listener: prints notes and warnings, and shows progress."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headwise.cli.console import note, warn
from headwise.cli.progress import TextProgress
from headwise.verbs.listener import Listener, Update

if TYPE_CHECKING:
    from headwise.cli.train_display import TrainDisplay


class Terminal(Listener):
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
        from headwise.cli.train_display import TrainDisplay  # with it comes torch

        with TrainDisplay(recipe.train, headline, unit) as self._display:
            yield self._display.show
        self._display = None

    @contextmanager
    def reading(self, file: Path, resumed: int, *, shown: bool) -> Iterator[Update]:
        with TextProgress(file, resumed=resumed, show=shown) as progress:
            yield progress.update

    @contextmanager
    def answering(self) -> Iterator[Update]:
        with TextProgress(None) as progress:
            yield progress.update_of
