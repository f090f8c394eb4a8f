"""Jobs shared among threads, for kernels that release Python's lock while they compute."""

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Job = TypeVar("Job")

_lock = threading.Lock()
_pool: tuple[ThreadPoolExecutor, int] | None = None


def usable_threads() -> int:
    """As many as torch uses, where it is loaded; else what OMP_NUM_THREADS says, or one for each processor
    that this process may use."""
    if (torch := sys.modules.get("torch")) is not None:
        return torch.get_num_threads()
    asked = os.environ.get("OMP_NUM_THREADS", "")
    if asked.isdecimal() and int(asked):
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_jobs(work: Callable[[Job], None], jobs: Iterable[Job], threads: int) -> None:
    """`work(job)` for every job, by the calling thread and up to `threads` - 1 more, each taking the next
    job when it is done with one. What a job raises is raised here, once no job is at work any more."""
    waiting = deque(jobs)
    helpers = min(threads, len(waiting)) - 1

    def take() -> None:
        while True:
            try:
                job = waiting.popleft()
            except IndexError:
                return
            try:
                work(job)
            except BaseException:
                waiting.clear()
                raise

    started = [_threads(helpers).submit(take) for _ in range(helpers)]
    try:
        take()
    finally:
        # Where the threads are busy with other calls, this one has done all of its jobs itself.
        running = [future for future in started if not future.cancel()]
        failures = [failure for future in running if (failure := future.exception())]
    if failures:
        raise failures[0]


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
