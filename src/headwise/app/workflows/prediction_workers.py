"""Worker processes that predict in parallel, each with the model in its memory."""

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from headwise.core.allocator import keep_freed_memory
from headwise.core.errors import HeadwiseError
from headwise.models.output_file import OutputError
from headwise.models.prediction_resume import Chunk
from headwise.models.predictor import PredictionBatch, Predictor

_AHEAD = 2  # chunks for each worker that are read before the first of them is predicted

_opening: Callable[[], Predictor]
_predictor: Predictor | None = None


def predict_in_workers(
    chunks: Iterator[Chunk], workers: int, opening: Callable[[], Predictor]
) -> Generator[tuple[Chunk, PredictionBatch], None, None]:
    """Predict chunks of rows in worker processes; yields them in order with their predictions.

    Predictions do not depend on the number of workers, except for rounding: the workers share the threads
    of this process. The workers end with this process, however it ends.

    Args:
        chunks: The chunks, read when they are needed.
        workers: Number of processes.
        opening: Opens the model in a worker; must be picklable.

    Raises:
        OutputError: HW607, a worker died.
        HeadwiseError: An error of a worker.
    """
    lifeline, hold = (context := get_context("spawn")).Pipe(duplex=False)
    pool = ProcessPoolExecutor(workers, context, _init_worker, (opening, lifeline))
    try:
        waiting: deque[tuple[Chunk, Any]] = deque()
        for chunk in chunks:
            with _ignoring_interrupts():
                waiting.append((chunk, pool.submit(_predict_chunk, [row.item for row in chunk])))
            if len(waiting) > _AHEAD * workers:
                yield _next(waiting)
        while waiting:
            yield _next(waiting)
    except BrokenProcessPool:
        raise OutputError(
            f"one of the {workers} worker processes died, perhaps for lack of memory (each holds the "
            "model); give fewer --workers",
            code="HW607",
        ) from None
    finally:
        hold.close()  # ends the workers that still run
        pool.shutdown(cancel_futures=True)
        lifeline.close()


@contextmanager
def _ignoring_interrupts() -> Generator[None]:
    """Processes started within this context ignore Ctrl-C; this process receives it afterwards."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows: workers ignore it once they run
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _next(waiting: deque[tuple[Chunk, Any]]) -> tuple[Chunk, PredictionBatch]:
    chunk, answer = waiting.popleft()
    return chunk, answer.result()


def _init_worker(opening: Callable[[], Predictor], lifeline: Connection) -> None:
    """Initialise a worker: it ends when the other end of its lifeline is closed."""
    global _opening
    _opening = opening
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_exit_with_parent, args=(lifeline,), daemon=True).start()
    keep_freed_memory()


def _exit_with_parent(lifeline: Connection) -> None:
    try:
        lifeline.recv_bytes()
    except EOFError:
        os._exit(0)


def _predict_chunk(items: Sequence[object]) -> PredictionBatch:
    global _predictor
    if _predictor is None:
        _predictor = _opening()
    try:
        return _predictor.predict(items)
    except HeadwiseError as error:  # not every subclass can be pickled
        raise HeadwiseError(error.args[0], code=error.code) from None
