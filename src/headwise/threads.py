"""Jobs shared among threads, for kernels that release Python's lock while they compute."""

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from functools import cache
from typing import Any, TypeVar

Job = TypeVar("Job")

_lock = threading.Lock()
_pool: tuple[ThreadPoolExecutor, int] | None = None
_here = threading.local()


def usable_threads() -> int:
    """As many as torch uses, where it is loaded; else what OMP_NUM_THREADS says, or one for each processor
    that this process may use."""
    if (torch := sys.modules.get("torch")) is not None:
        return torch.get_num_threads()
    asked = os.environ.get("OMP_NUM_THREADS", "")
    if asked.isdecimal() and int(asked):
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def one_blas_thread() -> AbstractContextManager[Any]:
    """Within this, NumPy and SciPy multiply matrices with one thread: several take longer over small ones,
    and need not add up in the same order."""
    return _blas().limit(limits=1, user_api="blas")


@cache
def _blas() -> Any:
    """Who multiplies matrices here. To find that out takes ten milliseconds, which trainings that do it for
    each small fit spent a fifth of their time with."""
    import scipy.linalg  # noqa: F401  (loads the last of the libraries that are to be found)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


class Halted(Exception):
    """Another job of the same call has failed, or Ctrl-C came, so this one is of no use any more."""


def end_if_halted() -> None:
    """For jobs of several steps: ends the one at work in this thread if it is of no use any more.

    Raises:
        Halted: It is not.
    """
    halted = getattr(_here, "halted", None)
    if halted is not None and halted.is_set():
        raise Halted


def run_jobs(work: Callable[[Job], None], jobs: Iterable[Job], threads: int) -> None:
    """`work(job)` for every job, by the calling thread and up to `threads` - 1 more, each taking the next
    job when it is done with one. What a job raises is raised here, once no job is at work any more."""
    waiting, halted = deque(jobs), threading.Event()
    helpers = min(threads, len(waiting)) - 1

    def take() -> None:
        before = getattr(_here, "halted", None)
        _here.halted = halted
        try:
            while True:
                try:
                    job = waiting.popleft()
                except IndexError:
                    return
                work(job)
        except BaseException:
            halted.set()
            waiting.clear()
            raise
        finally:
            _here.halted = before

    started = [_threads(helpers).submit(take) for _ in range(helpers)]
    try:
        with suppress(Halted):  # by a failure that is raised below
            take()
    finally:
        # Where the threads are busy with other calls, this one has done all of its jobs itself.
        running = [future for future in started if not future.cancel()]
        try:
            failures = [failure for future in running if (failure := future.exception())]
        except BaseException:  # Ctrl-C, while the others are waited for
            halted.set()
            raise
    for failure in failures:
        if not isinstance(failure, Halted):
            raise failure


def _threads(count: int) -> ThreadPoolExecutor:
    """The threads of this process, at least so many."""
    global _pool
    with _lock:
        if _pool is None or _pool[1] < count:
            _pool = ThreadPoolExecutor(count, "headwise"), count
        return _pool[0]


def _forget() -> None:
    """A forked process has none of its parent's threads, and perhaps the lock held by one of them."""
    global _lock, _pool
    _lock, _pool = threading.Lock(), None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
