"""Run jobs in threads, for kernels that release the GIL."""

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, suppress
from functools import cache
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from threadpoolctl import ThreadpoolController

Job = TypeVar("Job")

_lock = threading.Lock()
_pool: "tuple[ThreadPoolExecutor, int] | None" = None
_thread_state = threading.local()


def usable_threads() -> int:
    """Number of threads to use: that of torch if it is loaded; else OMP_NUM_THREADS, or one per processor
    available to this process."""
    # While another thread imports torch, the module is there without its functions.
    if (torch_threads := getattr(sys.modules.get("torch"), "get_num_threads", None)) is not None:
        return torch_threads()
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return requested_threads() or processors or 1


def requested_threads() -> int:
    """The number in OMP_NUM_THREADS, or the first of several (one for each level of nesting); 0 without
    one."""
    threads = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return int(threads) if threads.isdecimal() else 0


def limit_threads(count: int) -> None:
    """Let this process, which has not loaded torch, use `count` threads from now on. NumPy's BLAS is
    limited where threadpoolctl is installed."""
    os.environ["OMP_NUM_THREADS"] = str(count)
    with suppress(ImportError):
        from threadpoolctl import threadpool_limits

        threadpool_limits(count)


def one_blas_thread() -> AbstractContextManager[object]:
    """Within this context, BLAS uses one thread: several are slower on small matrices, and their summation
    order may vary."""
    return _blas("scipy.linalg" in sys.modules).limit(limits=1, user_api="blas")


@cache
def _blas(scipy: bool) -> "ThreadpoolController":
    """The controller of the BLAS libraries, with that of SciPy if it is loaded. Finding them takes 10 ms,
    which used to be a fifth of the time of training runs with many small fits."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


class Halted(Exception):
    """Raised in a job to stop it: another job of the same call has failed, or Ctrl-C was pressed."""


def raise_if_halted() -> None:
    """Stop the current job of this thread if its call has been halted; for jobs of several steps.

    Raises:
        Halted: Another job has failed, or Ctrl-C was pressed.
    """
    halted = getattr(_thread_state, "halted", None)
    if halted is not None and halted.is_set():
        raise Halted


def run_jobs(work: Callable[[Job], None], jobs: Iterable[Job], threads: int) -> None:
    """Call `work(job)` for every job, in the calling thread and up to `threads` - 1 others. Each thread
    takes the next job when it has finished one. An exception of a job is raised here after all jobs have
    ended."""
    waiting = deque(jobs)
    helpers = min(threads, len(waiting)) - 1
    if helpers < 1:  # nothing to coordinate, which for small jobs takes longer than they do
        for job in waiting:
            work(job)
        return
    halted = threading.Event()

    def take() -> None:
        before = getattr(_thread_state, "halted", None)
        _thread_state.halted = halted
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
            _thread_state.halted = before

    started = [_thread_pool(helpers).submit(take) for _ in range(helpers)]
    try:
        with suppress(Halted):  # after a failure, which is raised below
            take()
    finally:
        # If all threads were busy with other calls, the calling thread has done all jobs itself.
        running = [future for future in started if not future.cancel()]
        try:
            failures = [failure for future in running if (failure := future.exception())]
        except BaseException:  # Ctrl-C while waiting for the other threads
            halted.set()
            raise
    for failure in failures:
        if not isinstance(failure, Halted):
            raise failure


def _thread_pool(count: int) -> "ThreadPoolExecutor":
    """The thread pool of this process, with `count` or more threads."""
    global _pool
    from concurrent.futures import ThreadPoolExecutor  # most processes need none

    with _lock:
        if _pool is None or _pool[1] < count:
            _pool = ThreadPoolExecutor(count, "headwise"), count
        return _pool[0]


def _reset_after_fork() -> None:
    """Reset the pool in a forked process: it has none of its parent's threads, and the lock may be held."""
    global _lock, _pool
    _lock, _pool = threading.Lock(), None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)
