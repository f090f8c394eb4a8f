"""The timing of encoders: the tables and the JSON; times themselves are never asserted."""

import json

import pytest

from benchmarks import ROOT
from benchmarks.speed.encoder_timing import _ranges, main

GOLDEN = ROOT / "tests" / "artifacts" / "golden"
SMALL = ("--lengths", "6", "12", "--batch", "2", "--rounds", "1")


@pytest.fixture(autouse=True)
def nothing_stays(monkeypatch):
    """Nothing of this process is to change for the tests that follow."""
    monkeypatch.setattr("benchmarks.speed.encoder_timing.keep_freed_memory", lambda: True)
    monkeypatch.setenv("HEADWISE_KERNELS", "off")


@pytest.fixture
def run(capfd, monkeypatch, tmp_path):
    """Run a command line in a folder of its own; returns (exit code, standard output, standard error)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def run(*arguments):
        return main([str(argument) for argument in arguments]), *capfd.readouterr()

    return run


@pytest.fixture
def model():
    """The folder of a model."""
    return GOLDEN / "classify" / "model"


def test_a_new_encoder(run):
    code, out, err = run("--encoder", "ms-transformer", "--encoder.layers", "1", *SMALL)
    assert code == 0
    header, *rows = out.splitlines()
    assert header.split() == ["words", "texts", "pass", "time", "floor", "/", "floor", "words/s"]
    assert [row.split()[:3] for row in rows[::2]] == [["6", "2", "forward"], ["12", "2", "forward"]]
    assert "ms-transformer" in err
    assert "1 round" in err


def test_explain(run):
    code, out, _ = run("--encoder", "ms-transformer", "--encoder.attention", "sdpa", "--explain", *SMALL)
    assert code == 0
    assert "blocks.0.attention" in out
    heads = [line.split()[0] for line in out.splitlines() if " window" in line]
    numbers = {int(number) for span in heads for number in span.rstrip(",").split("-")}
    assert (min(numbers), max(numbers)) == (1, 10)  # as other commands count them
    assert out.count("all but these layers: ") == 2  # lengths
    assert "ms, floor " in out
    assert "sees itself alone" in " ".join(out.split())
    assert "asked for by name" in " ".join(out.split())


def test_an_encoder_without_priors(run):
    arguments = ("--encoder", "star-transformer", "--encoder.layers", "1", "--explain", *SMALL)
    code, out, _ = run(*arguments)
    assert code == 0
    assert "no head of this encoder has a prior" in out


def test_an_encoder_that_goes_by_trees(run):
    arguments = ("--encoder", "ms-san", "--encoder.width", "12", "--explain", *SMALL)
    code, out, err = run(*arguments)
    assert code == 0, err
    assert "tree distance 1" in " ".join(out.split())


def test_json_of_a_model(run, model):
    code, out, err = run(model, "--json", *SMALL)
    assert (code, err) == (0, "")
    report = json.loads(out)
    assert report["rounds"] == 1
    speed = report["speeds"][1]
    assert speed["words"] == 24
    assert speed["forward"] > 0
    assert speed["anatomy"]["products"][0]["rows"] == 26
    assert speed["anatomy"]["paths"][0]["layer"] == "blocks.0.attention"
    assert speed["anatomy"]["paths"][0]["heads"][0] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "needs the folder of a model, or --encoder"),
        (("m", "--encoder", "transformer"), "not both"),
        (("--encoder", "transformr"), "did you mean 'transformer'?"),
        (("--encoder", "transformer", "--encoder.scales", "3"), "unknown setting 'scales'"),
        (("no-model",), "there is no such folder"),
        (("--encoder", "transformer", "--batch", "0"), "--batch 0; expected 1 or more"),
        (("--encoder", "transformer", "--lengths", "8", "0"), "--lengths 8 0; expected"),
    ],
)
def test_what_cannot_be_timed(run, arguments, message):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert message in err


def test_a_model_has_its_own_settings(run, model):
    code, _, err = run(model, "--encoder.layers", "1")
    assert code == 2
    assert "leave out --encoder.*" in err


def test_ranges():
    assert _ranges([0, 1, 2, 5, 7, 8]) == "0-2, 5, 7-8"


@pytest.mark.parametrize("task", sorted(path.name for path in GOLDEN.iterdir()))
def test_models_of_all_tasks(run, task):
    code, out, err = run(GOLDEN / task / "model", "--lengths", 4, "--batch", 2, "--rounds", 1, "--json")
    assert code == (2 if task == "bags" else 0), err
    assert "has no encoder to time" in err if code else json.loads(out)


@pytest.mark.parametrize("words", [["--lengths", "8", "8.5"], ["--rounds", "1.5"]])
def test_whole_numbers(run, words):
    code, out, err = run("--encoder", "transformer", *words)
    assert (code, out) == (2, "")
    assert words[-1] in err
