"""How a command talks with the terminal while it works: signals in, progress out.

Within `reliable_interrupts`, Ctrl-C and SIGTERM stop a command reliably, so that it can print how to
resume. `TerminalReporter` prints notes and warnings, and shows progress.
"""

import signal
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from headwise.app.cli.console import may_be_terminal, note, warn, working
from headwise.app.reporter import ProgressCallback, Reporter

if TYPE_CHECKING:
    from headwise.app.cli.train_display import TrainDisplay
    from headwise.training.callbacks import EpochReport
    from headwise.training.settings import RunConfig

_RESEND_SECONDS = 0.05  # seconds until a lost signal is sent again


class SignalReceived(Exception):
    """The cause of a `KeyboardInterrupt` by a signal other than Ctrl-C.

    Attributes:
        signal: Number of the signal.
    """

    def __init__(self, number: int):
        super().__init__(signal.Signals(number).name)
        self.signal = number


def signal_of(interrupt: BaseException | None) -> int:
    """The number of the signal that caused an interrupt; see also `headwise.training.run_state`."""
    return getattr(interrupt and interrupt.__cause__, "signal", signal.SIGINT)


@contextmanager
def reliable_interrupts() -> Generator[None]:
    """Within this context, SIGTERM interrupts as Ctrl-C does, unless it is ignored. An interrupt is sent
    again if Python drops the exception, as it does in callbacks of compiled code and in destructors."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread can handle signals
        return
    drop, coming = sys.unraisablehook, list[threading.Timer]()

    def dropped(dropped_error: Any) -> None:
        if not issubclass(dropped_error.exc_type, KeyboardInterrupt):
            drop(dropped_error)
            return
        coming.append(threading.Timer(_RESEND_SECONDS, _send, (signal_of(dropped_error.exc_value),)))
        coming[-1].daemon = True
        coming[-1].start()

    before = signal.getsignal(signal.SIGTERM)
    if before == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _stop)
    sys.unraisablehook = dropped
    try:
        yield
    finally:
        sys.unraisablehook = drop
        for timer in coming:
            timer.cancel()
        if before == signal.SIG_DFL:
            signal.signal(signal.SIGTERM, before)


def _stop(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt from SignalReceived(number)


def _send(number: int) -> None:
    """Send a signal to the main thread, also while it is blocked."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:
        signal.raise_signal(number)


class QuietReporter(Reporter):
    """A reporter that prints warnings only."""

    def warn(self, text: str) -> None:
        warn(text)


class TerminalReporter(Reporter):
    """A reporter that prints to standard error."""

    _display: "TrainDisplay | None" = None
    _begin_step: Callable[[str], None] | None = None

    def note(self, text: str) -> None:
        note(text)

    def warn(self, text: str) -> None:
        warn(text)

    @contextmanager
    def working(self, text: str) -> Generator[None]:
        try:
            with working(text) as self._begin_step:
                yield
        finally:
            self._begin_step = None

    def stage(self, text: str) -> None:
        if self._display is not None:
            self._display.stage(text)
        elif self._begin_step is not None:
            self._begin_step(text)

    @contextmanager
    def training(
        self, run_config: "RunConfig", primary_metric: str, unit: str
    ) -> "Generator[Callable[[EpochReport], None]]":
        from headwise.app.cli.train_display import TrainDisplay  # with it comes torch

        try:
            with TrainDisplay(run_config.train, primary_metric, unit) as self._display:
                yield self._display.show
        finally:
            self._display = None

    @contextmanager
    def reading(self, file: Path, resumed: int, *, shown: bool) -> Generator[ProgressCallback]:
        if not shown or not may_be_terminal():
            with super().reading(file, resumed, shown=shown) as update:
                yield update
            return
        from headwise.app.cli.progress import TextProgress  # with it comes Rich

        with TextProgress(file, resumed=resumed) as progress:
            yield progress.update

    @contextmanager
    def teacher_progress(self) -> Generator[ProgressCallback]:
        from headwise.app.cli.progress import TextProgress

        with TextProgress(None) as progress:
            yield progress.update_of
