import sys
import threading
import time
from types import ModuleType

import pytest

from headwise.core import threads
from headwise.core.threads import Halted, one_blas_thread, raise_if_halted, run_jobs, usable_threads


def test_every_job_is_done_once_by_several_threads():
    meet, done = threading.Barrier(3, timeout=60), []

    def work(job):
        if job < 3:
            meet.wait()  # so that three are at work at once
        done.append(job)

    run_jobs(work, range(20), 3)
    assert sorted(done) == list(range(20))


def test_what_a_job_raises_ends_the_others():
    def work(job):
        if job == 1:
            raise ValueError("job 1")

    with pytest.raises(ValueError, match="job 1"):
        run_jobs(work, range(100_000), 2)
    run_jobs(work, [0, 2], 2)  # the threads are as good as ever


def test_jobs_of_several_steps_end_when_another_fails():
    begun, steps = threading.Event(), []

    def work(job):
        if job == 0:
            begun.wait(60)
            raise ValueError("job 0")
        begun.set()
        for step in range(6_000):
            raise_if_halted()
            steps.append(step)
            time.sleep(0.01)

    for jobs in ([0, 1], [1, 0]):  # whichever of them the calling thread takes
        begun.clear()
        with pytest.raises(ValueError, match="job 0"):
            run_jobs(work, jobs, 2)
    assert len(steps) < 6_000
    raise_if_halted()  # that was of the calls before


def test_ctrl_c_ends_the_jobs_of_other_threads():
    begun, ended = threading.Event(), threading.Event()
    main = threading.get_ident()

    def work(job):
        if threading.get_ident() == main:
            begun.wait(60)
            raise KeyboardInterrupt
        begun.set()
        try:
            for _ in range(6_000):
                raise_if_halted()
                time.sleep(0.01)
        except Halted:
            ended.set()
            raise

    with pytest.raises(KeyboardInterrupt):
        run_jobs(work, range(2), 2)
    assert ended.is_set()


def test_torch_that_another_thread_imports_is_not_asked(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", ModuleType("torch"))
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    assert usable_threads() == 7


def test_threads_are_those_of_torch_where_it_is_loaded(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch, "get_num_threads", lambda: 5)
    assert usable_threads() == 5
    monkeypatch.delitem(sys.modules, "torch")
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert usable_threads() == 3
    monkeypatch.setenv("OMP_NUM_THREADS", "6,2")  # of nested loops
    assert usable_threads() == 6
    for none in ("", "0", "many", "²"):
        monkeypatch.setenv("OMP_NUM_THREADS", none)
        monkeypatch.setattr(threads.os, "sched_getaffinity", lambda _: {0, 1, 4, 5}, raising=False)
        assert usable_threads() == 4


def blas_threads():
    from threadpoolctl import threadpool_info

    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_matrices_are_multiplied_by_one_thread():
    """In every library that does so, and as before when it is over."""
    import scipy.linalg  # noqa: F401  (with a library of its own)
    from threadpoolctl import threadpool_limits

    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        assert 2 in before
        with one_blas_thread():
            assert set(blas_threads()) == {1}
        assert blas_threads() == before


def test_that_costs_next_to_nothing(takes_under):
    pytest.importorskip("torch")  # with it there is more to look through

    def hundred():
        for _ in range(100):
            with one_blas_thread():
                pass

    hundred()  # the first finds out what there is
    assert takes_under(0.05, hundred)
