"""The bar of a training on a terminal."""

from dataclasses import replace
from io import StringIO
from types import SimpleNamespace

import pytest
from rich.console import Console

from headwise.app.cli import train_display
from headwise.app.cli.train_display import TrainDisplay
from headwise.training.callbacks import EpochReport
from headwise.training.run_state import RunProgress
from headwise.training.settings import TrainConfig


@pytest.fixture
def shown(monkeypatch):
    """A display, and what its terminal has got since it was asked last."""
    file = StringIO()
    console = Console(file=file, force_terminal=True, color_system=None, width=100)
    monkeypatch.setattr(train_display, "messages", lambda: console)
    with TrainDisplay(TrainConfig(epochs=4)) as display:

        def since() -> str:
            file.seek(0)
            file.truncate()
            display.bar.refresh()
            return file.getvalue()

        yield display, since


JUDGED = RunProgress(epoch=1, batch=3, step=1, best_epoch=0, history=[{"accuracy": 0.5, "loss": 1.0}])
LAST = RunProgress(epoch=1, batch=3, step=14, best_epoch=0, history=[{"loss": 0.0}])


def report(progress, until=None, part=""):
    return EpochReport(progress, 10, 80, 0.25, 1234, None, until, part)


def test_epochs_are_told_with_the_best_on_dev(shown):
    display, since = shown
    display.show(report(JUDGED))
    assert "epoch 2/4" in (told := since())
    assert "loss 0.250  best dev 50.0 %  1,234 texts/s  left" in told


def test_errors_in_a_small_unit_have_digits(shown):
    display, since = shown
    display.primary_metric = "mae"
    display.show(report(replace(JUDGED, history=[{"mae": 0.000123456, "loss": 1.0}])))
    assert "best dev 0.0001235 " in since()


def test_the_last_training_has_its_own_epochs_and_nothing_that_dev_says(shown):
    display, since = shown
    display.show(report(replace(LAST, step=1), 2, "once more, on all"))
    assert "once more, on all: epoch 2/2" in (told := since())
    assert "loss 0.250  1,234 texts/s  left" in told
    assert "dev" not in told


def test_other_work_is_told_with_its_time_and_without_an_end(shown):
    display, since = shown
    display.show(report(JUDGED))
    display.stage("linear model")
    assert "linear model" in (told := since())
    assert "0:00:0" in told
    assert "epoch" not in told
    assert "left" not in told


def test_a_last_training_that_goes_on_tells_nothing_of_dev(shown):
    display, since = shown
    since()
    display.show(report(LAST, 2, "once more, on all"))
    told = display.console.file.getvalue()
    assert "continues in epoch 2 after 13 updates" in told
    assert "best so far" not in told


@pytest.fixture
def logged(monkeypatch):
    """A display in a log, what the log holds, and a clock that can be set."""
    file, clock = StringIO(), SimpleNamespace(monotonic=lambda: clock.now, now=0.0)
    console = Console(file=file, force_terminal=False, width=200)
    monkeypatch.setattr(train_display, "messages", lambda: console)
    monkeypatch.setattr(train_display, "time", clock)
    with TrainDisplay(TrainConfig(epochs=4, patience=0)) as display:
        yield display, lambda: file.getvalue().splitlines(), clock


def test_a_log_has_a_line_of_progress_every_minute(logged):
    display, lines, clock = logged
    for clock.now in range(0, 130, 10):
        display.show(report(replace(JUDGED, epoch=0, batch=5)))
    assert lines() == ["epoch 1/4, 50 %: loss 0.250  1,234 texts/s  a minute left for the epochs"] * 2
    clock.now = 300
    display.show(replace(report(JUDGED, 3, "on all"), texts=100_000))
    expected = "on all: epoch 2/3, 30 %: loss 0.250  1,234 texts/s  2 minutes left for the epochs"
    assert lines()[2:] == [expected]


def test_a_log_names_the_stages_of_a_long_run_only(logged):
    display, lines, clock = logged
    clock.now = 59
    display.stage("linear model")
    assert lines() == []
    clock.now = 61
    display.stage("evaluating on test")
    assert lines() == ["evaluating on test ..."]
