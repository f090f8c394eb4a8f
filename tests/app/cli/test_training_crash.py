"""A training run that an unexpected error stops."""

import csv

import pytest

from headwise.app import training_report
from headwise.app.workflows import train as workflow
from headwise.app.workflows.train import crash_as_error
from headwise.core.errors import HeadwiseError

SMALL = (
    *("--base", "none", "--epochs", "2", "--folds", "0", "--words.vector-size", "8", "--no-baseline"),
    *("--encoder.width", "8", "--encoder.heads", "2", "--encoder.head-size", "4", "--encoder.layers", "1"),
)


@pytest.fixture
def train(tmp_path, run):
    """Trains on 60 texts into the folder `m`."""
    rows = [(f"{'good' if number % 2 else 'bad'} film {number}", number % 2) for number in range(60)]
    with open(tmp_path / "films.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("text", "label"), *rows])
    return lambda *flags: run("train", "films.csv", *SMALL, "-o", "m", *flags)


def failing(error):
    def evaluate_run(*_, **__):
        raise error

    return evaluate_run


def test_it_is_an_error_with_a_code_and_its_run_is_not_offered_for_resuming(
    train, run, tmp_path, monkeypatch
):
    with monkeypatch.context() as broken:
        broken.setattr(training_report, "evaluate_run", failing(KeyError("biling")))
        code, _, err = train()
        assert code == 2
        assert "Traceback" not in err
        assert "[HW413]" in err
        assert "while evaluating the model: KeyError: 'biling'" in " ".join(err.split())
        traceback = tmp_path / "m" / "training" / "traceback.txt"
        assert "KeyError: 'biling'" in traceback.read_text()
        assert "evaluate_run" in traceback.read_text()
        assert str(traceback.relative_to(tmp_path)) in err
        code, _, err = train()
        assert (code, "an unexpected error stopped" in err) == (2, True)
        assert "add --resume" not in err
        code, _, err = run("predict", "m", "films.csv")
        assert (code, "[HW503]" in err, "traceback.txt" in err, "--resume" in err) == (2, True, True, False)
        # Whoever insists meets the same error, which is told in the same way.
        code, _, err = train("--resume")
        assert (code, "[HW413]" in err, traceback.exists()) == (2, True, True)
    # When the cause is gone, nothing of the run is lost.
    code, _, err = train("--resume")
    assert code == 0, err
    assert not traceback.exists()
    assert run("predict", "m", "films.csv")[0] == 0


def test_too_little_memory_leaves_a_run_that_is_offered_for_resuming(train, monkeypatch):
    with monkeypatch.context() as broken:
        broken.setattr(training_report, "evaluate_run", failing(MemoryError()))
        assert "[HW410]" in train()[2]
    assert "add --resume to continue it" in train()[2]


@pytest.mark.parametrize(
    "error",
    [OSError(28, "No space left on device"), RuntimeError("CUDA out of memory"), KeyboardInterrupt()],
)
def test_what_is_no_fault_of_the_run_stays_what_it_is(tmp_path, error):
    with pytest.raises(type(error)), crash_as_error(tmp_path):
        raise error
    assert not [*tmp_path.iterdir()]


def test_an_error_about_a_name_that_is_no_text_has_its_traceback_too(tmp_path):
    with pytest.raises(HeadwiseError, match="HW413"), crash_as_error(tmp_path):
        raise ValueError("caf\udce9.csv")
    assert "ValueError: caf\\udce9.csv" in (tmp_path / "training" / "traceback.txt").read_text("utf-8")


def test_an_error_before_the_first_update_leaves_nothing_that_stops_the_next_run(
    train, tmp_path, monkeypatch
):
    with monkeypatch.context() as broken:
        broken.setattr(workflow.TrainingJob, "plan", failing(ZeroDivisionError("no reason")))
        code, _, err = train()
        assert (code, "[HW413]" in err) == (2, True)
    code, _, err = train()
    assert code == 0, err
    assert not (tmp_path / "m" / "training").exists()
