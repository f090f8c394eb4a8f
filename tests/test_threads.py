import sys
import threading

import pytest

from headwise import threads
from headwise.threads import run_jobs, usable_threads


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


def test_threads_are_those_of_torch_where_it_is_loaded(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch, "get_num_threads", lambda: 5)
    assert usable_threads() == 5
    monkeypatch.delitem(sys.modules, "torch")
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert usable_threads() == 3
    for none in ("", "0", "many"):
        monkeypatch.setenv("OMP_NUM_THREADS", none)
        monkeypatch.setattr(threads.os, "sched_getaffinity", lambda _: {0, 1, 4, 5}, raising=False)
        assert usable_threads() == 4
