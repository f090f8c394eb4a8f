"""Graceful stop of training runs: a run ends between two updates, with its state saved.

Out-of-memory handling: batches are halved until they fit.
"""

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from logging import getLogger
from types import FrameType

from headwise.core.allocator import is_out_of_memory
from headwise.core.errors import HeadwiseError


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
def record_signals() -> Iterator[list[int]]:
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


_log = getLogger(__name__)


class HalvingRunner:
    """Runs the batches of an update; a batch that does not fit into memory is halved.

    Args:
        learn: Computes the gradients of one batch and returns its loss.
        forget: Clears the gradients of the update so far.
        where: Function from the index of a text to its place in a file.
        words: Function from the index of a text to its number of words.
    """

    def __init__(
        self,
        learn: Callable[[Sequence[int]], float],
        forget: Callable[[], None],
        where: Callable[[int], str],
        words: Callable[[int], int],
    ):
        self._learn, self._forget, self._where, self._words = learn, forget, where, words

    def __call__(self, batches: Sequence[Sequence[int]]) -> float:
        """The total loss of the batches.

        Raises:
            HeadwiseError: HW410, a single text does not fit.
        """
        left = list(batches)
        while True:
            total, failed = 0.0, None
            for place, batch in enumerate(left):
                try:
                    total += self._learn(batch)
                except (MemoryError, RuntimeError) as error:
                    if not is_out_of_memory(error):
                        raise
                    failed = place
                    break
            if failed is None:
                return total
            # Outside the except block, which keeps the tensors alive.
            self._forget()
            left[failed : failed + 1] = self._halves(left[failed])

    def _halves(self, batch: Sequence[int]) -> list[Sequence[int]]:
        longest = max(batch, key=self._words)
        what = f"{self._where(longest)}, {self._words(longest):,} words"
        if len(batch) == 1:
            raise HeadwiseError(
                f"the memory is not enough to learn from one text ({what}); read it in shorter windows "
                "(--windows.words), shorten it, or take a smaller encoder",
                code="HW410",
            )
        _log.info(
            "a batch of %s texts does not fit into the memory (its longest: %s): cut in two. A smaller "
            "--batch-tokens spares the attempt",
            f"{len(batch):,}",
            what,
        )
        middle = len(batch) // 2
        return [batch[:middle], batch[middle:]]
