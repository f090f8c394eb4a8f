"""`headwise predict --workers`: several processes say what one would say."""

import multiprocessing
import os
import shutil
import signal
import threading
import time
from contextlib import closing
from functools import partial

import pytest

from headwise.app import session as sessions
from headwise.app.session import open_session
from headwise.app.workflows import predict, prediction_workers
from headwise.app.workflows.prediction_workers import predict_in_workers
from headwise.core.errors import HeadwiseError
from headwise.data.items.dataset import InputRow
from headwise.models import prediction_resume as resume


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(resume, "CHUNK_ROWS", 8)


def chunks(count: int):
    return iter([[InputRow(n, {}, "w1")] for n in range(count)])


def test_the_output_is_the_same(run, model, table, tmp_path, small_chunks):
    table(tmp_path / "in.csv", 60)
    told = []
    for workers in (1, 2):
        code, _, err = run("predict", model, "in.csv", "-o", f"{workers}.csv", "--workers", workers)
        assert code == 0, err
        told.append([line.split(" in ")[0] + line.partition(";")[2] for line in err.splitlines()])
    content = (tmp_path / "1.csv").read_bytes()
    assert (tmp_path / "2.csv").read_bytes() == content
    assert told[0] == told[1]
    assert any(line.startswith("- 60 texts predicted") for line in told[1])
    (tmp_path / "2.csv").write_bytes(content[: len(content) // 2])
    code, _, err = run("predict", model, "in.csv", "-o", "2.csv", "--workers", "2", "--resume")
    assert code == 0
    assert "2.csv: the first 24 records are kept" in err
    assert (tmp_path / "2.csv").read_bytes() == content


def test_what_is_soon_done_is_done_here(run, model, table, tmp_path, monkeypatch):
    table(tmp_path / "in.csv", 60)
    monkeypatch.setattr(prediction_workers, "predict_in_workers", None)
    assert run("predict", model, "in.csv", "-o", "out.csv", "--workers", "2")[0] == 0


def test_a_process_that_ends_before_its_time():
    with pytest.raises(HeadwiseError, match=r"HW607.* 2 worker processes .*give fewer --workers"):
        list(predict_in_workers(chunks(3), 2, partial(os._exit, 3)))  # type: ignore[arg-type]


def test_what_a_process_raises_comes_here(tmp_path):
    with pytest.raises(HeadwiseError, match=r"\[HW501\].*nowhere"):
        list(predict_in_workers(chunks(3), 1, partial(open_session, tmp_path / "nowhere")))


def test_who_is_interrupted_does_not_wait_for_the_others():
    began = time.monotonic()
    busy = predict_in_workers(chunks(9), 2, partial(time.sleep, 300))  # type: ignore[arg-type]
    threading.Timer(4, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt), closing(busy):
        next(busy)
    assert time.monotonic() - began < 100
    assert not multiprocessing.active_children()


def test_a_model_that_is_replaced_meanwhile(run, save, table, tmp_path, small_chunks, monkeypatch):
    """The processes open it later than the one that they work for."""
    table(tmp_path / "in.csv", 60)
    mine, other = save(["bad", "good"], seed=1), save(["bad", "good"], seed=2)
    work = prediction_workers.predict_in_workers

    def replaced(*given):
        shutil.rmtree(mine)
        shutil.copytree(other, mine)
        return work(*given)

    monkeypatch.setattr(prediction_workers, "predict_in_workers", replaced)
    code, _, err = run("predict", mine, "in.csv", "-o", "out.csv", "--workers", "2")
    assert code == 2
    assert "[HW608]" in err
    assert not (tmp_path / "out.csv").exists()


def test_how_many(run, model, table, tmp_path):
    table(tmp_path / "in.csv", 6)
    code, _, err = run("predict", model, "in.csv", "--workers", "0")
    assert code == 2
    assert "--workers 0; expected 1 or more" in err
    code, _, err = run("predict", model, "in.csv", "--workers", "many")
    assert code == 2
    assert "'many' is neither a whole number nor auto" in err


def test_auto_starts_workers_where_a_file_takes_long(
    run, model, table, tmp_path, small_chunks, monkeypatch
):
    table(tmp_path / "in.csv", 60)
    assert run("predict", model, "in.csv", "-o", "alone.csv")[0] == 0
    content = (tmp_path / "alone.csv").read_bytes()
    started: list[int] = []
    work = prediction_workers.predict_in_workers

    def counted(chunks, workers, opening):
        started.append(workers)
        return work(chunks, workers, opening)

    monkeypatch.setattr(prediction_workers, "predict_in_workers", counted)
    monkeypatch.setattr(predict, "usable_threads", lambda: 2)
    for seconds, expected in ((1000.0, []), (0.0, [2])):
        monkeypatch.setattr(predict, "_ALONE", seconds)
        code, _, err = run("predict", model, "in.csv", "-o", f"{seconds}.csv", "--workers", "auto")
        assert code == 0, err
        assert "60 texts predicted" in err
        assert started == expected
        assert (tmp_path / f"{seconds}.csv").read_bytes() == content
    (tmp_path / "0.0.csv").write_bytes(content[: len(content) // 2])
    code, _, err = run("predict", model, "in.csv", "-o", "0.0.csv", "--workers", "auto", "--resume")
    assert code == 0, err
    assert (tmp_path / "0.0.csv").read_bytes() == content


def test_auto_of_one_processor_starts_none(run, model, table, tmp_path, small_chunks, monkeypatch):
    table(tmp_path / "in.csv", 60)
    monkeypatch.setattr(prediction_workers, "predict_in_workers", None)
    monkeypatch.setattr(predict, "usable_threads", lambda: 1)
    monkeypatch.setattr(predict, "_ALONE", 0.0)
    assert run("predict", model, "in.csv", "-o", "out.csv", "--workers", "auto")[0] == 0


def test_workers_of_an_exported_model_share_the_usable_threads(monkeypatch):
    monkeypatch.setattr(sessions, "usable_threads", lambda: 6)
    session = sessions.ExportedSession.__new__(sessions.ExportedSession)
    session.folder = "exported"
    assert [session.opener(workers).args[-1] for workers in (1, 2, 16)] == [6, 3, 1]
