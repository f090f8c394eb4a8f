"""Graceful stop of training runs: a run ends between two updates, with its state saved."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from headwise.errors import HeadwiseError


class TrainingInterrupted(HeadwiseError):
    """The run was asked to stop (Ctrl-C or a termination signal) and has saved its state.

    Attributes:
        signal: The number of the signal.
    """

    code = "HW400"

    def __init__(self, message: str, number: int):
        super().__init__(message)
        self.signal = number


@contextmanager
def noted_signals() -> Iterator[list[int]]:
    """Record Ctrl-C, SIGTERM and SIGHUP (a closed terminal) for the training loop, which checks between
    updates; a second signal acts at once. Ignored signals, as under nohup, stay ignored."""
    caught: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield caught  # signals can only be handled in the main thread
        return

    def handle(number: int, frame: FrameType | None) -> None:
        if caught:
            raise KeyboardInterrupt
        caught.append(number)

    names = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows has no SIGHUP
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    heard = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, handle) for number in heard}
    try:
        yield caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
