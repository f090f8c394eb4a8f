"""Handle Ctrl-C and SIGTERM so that a command stops reliably and can print how to resume."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

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
    """The number of the signal that caused an interrupt; see also `headwise.training.stopping`."""
    return getattr(interrupt and interrupt.__cause__, "signal", signal.SIGINT)


@contextmanager
def reliable_interrupts() -> Iterator[None]:
    """Within this context, SIGTERM interrupts as Ctrl-C does, unless it is ignored. An interrupt is sent
    again if Python drops the exception, as it does in callbacks of compiled code (Numba, when it loads a
    kernel) and in destructors."""
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
