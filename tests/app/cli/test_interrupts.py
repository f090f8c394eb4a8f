"""Signals that end a command, also where Python would drop what they raise."""

import ctypes
import signal
import time
from importlib import import_module

import pytest

from headwise.app.cli import main
from headwise.app.cli.terminal import reliable_interrupts


def in_a_callback(work) -> None:
    """What is raised within `work` is dropped, as compiled code that calls it cannot raise it."""
    ctypes.CFUNCTYPE(None)(work)()


def wait() -> None:
    until = time.monotonic() + 20
    while time.monotonic() < until:
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("lost", [False, True])
def test_a_signal_ends_the_command_even_where_it_is_dropped(monkeypatch, capfd, number, lost):
    def work(*_, **__):
        if lost:
            in_a_callback(lambda: signal.raise_signal(number))
        else:
            signal.raise_signal(number)
        wait()

    monkeypatch.setattr(import_module("headwise.data.doctor.diagnose"), "doctor_files", work)
    before, began = signal.getsignal(signal.SIGTERM), time.monotonic()
    assert main(["doctor", "some.csv"]) == 128 + number
    assert time.monotonic() - began < 10
    assert signal.getsignal(signal.SIGTERM) == before
    assert "ignored" not in capfd.readouterr().err


def test_a_signal_that_comes_again_is_dropped_again_and_comes_once_more():
    @reliable_interrupts()
    def work():
        in_a_callback(lambda: signal.raise_signal(signal.SIGINT))
        in_a_callback(wait)
        wait()

    with pytest.raises(KeyboardInterrupt):
        work()


def test_what_else_is_dropped_is_told(monkeypatch):
    told = []
    monkeypatch.setattr("sys.unraisablehook", told.append)
    with reliable_interrupts():
        in_a_callback(lambda: 1 / 0)
    assert [own.exc_type for own in told] == [ZeroDivisionError]


def test_sigterm_that_is_ignored_stays_so():
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with reliable_interrupts():
            signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
