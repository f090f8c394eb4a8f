"""The phases of a training run, and their memory."""

import sys
import threading

import pytest

from benchmarks.defaults import train_memory
from benchmarks.defaults.train_memory import Usage, phase_of, stop_epochs_after, watch
from headwise.training import loop


def test_the_innermost_function_is_the_phase(monkeypatch):
    def outer():
        return inner()

    def inner():
        return phase_of(sys._getframe())

    assert outer() == "start, end"
    monkeypatch.setattr(train_memory, "PHASES", {outer.__code__: "outer", inner.__code__: "inner"})
    assert outer() == "inner"
    monkeypatch.setattr(train_memory, "PHASES", {outer.__code__: "outer"})
    assert outer() == "outer"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_phase_has_the_memory_that_it_takes(monkeypatch):
    phases: dict[str, Usage] = {}
    done, enough = threading.Event(), threading.Event()

    def fill():
        held = bytearray(b"1") * (1 << 26)
        enough.wait(0.5)
        return len(held)

    monkeypatch.setattr(train_memory, "PHASES", {fill.__code__: "filling"})
    monkeypatch.setattr(train_memory, "_SECONDS", 0.01)
    watcher = threading.Thread(target=watch, args=(threading.get_ident(), phases, done))
    watcher.start()
    fill()
    done.set()
    watcher.join()
    assert phases["filling"].peak > 1 << 26


def test_an_epoch_ends_after_so_many_updates(monkeypatch):
    monkeypatch.setattr(loop._TrainingRun, "epoch_batches", lambda run: iter([[[0]], [[1]], [[2]]]))
    stop_epochs_after(2)
    assert [*loop._TrainingRun.epoch_batches(None)] == [[[0]], [[1]]]
