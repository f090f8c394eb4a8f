"""Ctrl-C and SIGTERM end a command, wherever it is, and let it say how to go on."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_AGAIN = 0.05  # seconds after which a signal that was lost comes again


class Stopped(Exception):
    """The cause of a `KeyboardInterrupt` by another signal than Ctrl-C.

    Attributes:
        signal: Its number.
    """

    def __init__(self, number: int):
        super().__init__(signal.Signals(number).name)
        self.signal = number


def signal_of(interrupt: BaseException | None) -> int:
    """The number of the signal that an interrupt came by, see `headwise.train.stop` too."""
    return getattr(interrupt and interrupt.__cause__, "signal", signal.SIGINT)


@contextmanager
def surely_interrupted() -> Iterator[None]:
    """Within this SIGTERM interrupts as Ctrl-C does, if it is not ignored; and an interrupt is not lost
    where Python drops what is raised (in what compiled code calls, as Numba does when it loads a kernel, or
    in what clears up): it comes again."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals can only be handled in the main thread
        return
    drop, coming = sys.unraisablehook, list[threading.Timer]()

    def dropped(found: Any) -> None:
        if not issubclass(found.exc_type, KeyboardInterrupt):
            drop(found)
            return
        coming.append(threading.Timer(_AGAIN, _send, (signal_of(found.exc_value),)))
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
    raise KeyboardInterrupt from Stopped(number)


def _send(number: int) -> None:
    """Send a signal to the main thread, also while it waits for something."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:
        signal.raise_signal(number)
