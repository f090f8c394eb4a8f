"""The benchmark of language models: short runs, runs that were stopped, costs, the tables."""

import importlib
import json
import signal
import zipfile

import pytest
import torch

from headwise.nn.encoders import ENCODERS
from headwise.nn.ragged import Ragged

SMALL = "--width 32 --layers 1 --k 2 --batch-tokens 64 --context 16 --steps 3".split()  # noqa: SIM905


@pytest.fixture
def bench(monkeypatch, tmp_path):
    module = importlib.import_module("benchmarks.papers.language_modelling")
    training = importlib.import_module("benchmarks.papers.language_modelling_training")
    monkeypatch.setattr(training, "DATA", tmp_path / "data")
    training.read_parts.cache_clear()
    (tmp_path / "data" / "ptb_lm").mkdir(parents=True)
    with zipfile.ZipFile(tmp_path / "data" / "ptb_lm" / "ptb.zip", "w") as file:
        for part in ("train", "valid", "test"):
            file.writestr(f"ptb.{part}.txt", "the cat sat on the mat\n" * (40 if part == "train" else 8))
    yield module
    training.read_parts.cache_clear()


def run(bench, folder, *more):
    return bench.main(["--data", "ptb", *SMALL, "--results", str(folder), *more])


def results(folder):
    return json.loads((folder / "language_modelling.json").read_text())


def test_runs_at_equal_steps_and_equal_time(bench, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(bench, "NEAR", 1.0)
    assert run(bench, tmp_path) == 0
    runs = results(tmp_path)["runs"]
    equal = {row["model"]: row for row in runs.values() if not row["minutes"]}
    assert equal.keys() == {"transformer", "bp-transformer"}
    for row in equal.values():
        assert row["steps_done"] == 3
        assert row["characters_scored"] == 23 * 8
        assert 2 < row["bits_per_character"] < 8
        assert row["characters_read"] == 3 * 64
    # The faster one is trained anew for as long as the slower one took.
    [again] = [row for row in runs.values() if row["minutes"]]
    slower = max(equal.values(), key=lambda row: row["processor_seconds"])
    assert again["model"] != slower["model"]
    assert again["processor_seconds"] >= slower["processor_seconds"]
    shown = capsys.readouterr().out
    assert "3 steps: the BP-Transformer minus the Transformer is" in shown
    assert "With the same time" in shown or again["model"] == "bp-transformer"
    assert not list((tmp_path / "cache").rglob("*.safetensors"))
    assert run(bench, tmp_path) == 0
    assert results(tmp_path)["runs"] == runs


def test_a_run_that_was_stopped_ends_like_one_that_was_not(bench, tmp_path, monkeypatch):
    training = importlib.import_module("benchmarks.papers.language_modelling_training")
    step = training._Run.step

    def stopped(self):
        step(self)
        if self.counters.step == 2:
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(training._Run, "step", stopped)
    assert run(bench, tmp_path / "a", "--steps", "4") == 128 + signal.SIGTERM
    monkeypatch.setattr(training._Run, "step", step)
    for folder in ("a", "b"):
        assert run(bench, tmp_path / folder, "--steps", "4") == 0
    ours, theirs = (
        [row["bits_per_character"] for row in results(tmp_path / folder)["runs"].values() if row["steps"]]
        for folder in ("a", "b")
    )
    assert ours == theirs


def test_the_context_sets_the_clip(bench):
    training = importlib.import_module("benchmarks.papers.language_modelling_training")
    common = {"steps": 1, "clock": "wall", "batch_tokens": 1, "width": 64, "layers": 1, "rate": 1.0}
    settings = [
        training.Settings("", context, "bp-transformer", k=k, seed=0, threads=1, **common)
        for context, k in ((512, 64), (1024, 64), (4096, 64), (512, 32), (512, 8))
    ]
    assert [setting.encoder.clip for setting in settings] == [2, 3, 5, 3, 5]


@pytest.mark.parametrize("model", ["transformer", "bp-transformer"])
def test_costs(bench, monkeypatch, model, capsys):
    costs = importlib.import_module("benchmarks.papers.language_modelling_costs")
    monkeypatch.setattr(costs, "TOKENS", 128)
    monkeypatch.setattr(costs, "TIMES", 1)
    assert bench.main([*SMALL, "--cost", model, "32"]) == 0
    cost = json.loads(capsys.readouterr().out)
    assert cost["tokens_per_second"] > 0
    assert cost["kilobytes_per_token"] >= 0


def test_data_that_is_not_there(bench, tmp_path, capsys):
    assert bench.main(["--data", "war-and-peace", *SMALL, "--results", str(tmp_path)]) == 2
    assert "wap.train.txt.gz" in capsys.readouterr().err


def test_rates_are_compared_on_dev(bench, tmp_path, capsys):
    assert run(bench, tmp_path, "--tune", "0.001", "0.01", "--models", "transformer") == 0
    tuning = results(tmp_path)["tuning"]
    assert [row["rate"] for row in tuning.values()] == [0.001, 0.01]
    assert not results(tmp_path)["runs"]
    assert "| ptb | 16 | transformer, distance | 3 | 0.001 |" in capsys.readouterr().out
    assert run(bench, tmp_path) == 0
    best = min(tuning.values(), key=lambda row: row["bits_per_character"])["rate"]
    rates = {row["model"]: row["rate"] for row in results(tmp_path)["runs"].values()}
    assert rates == {"transformer": best, "bp-transformer": bench.RATE}


@pytest.mark.parametrize("positions", ["distance", "alibi", "rotary", "sinusoidal"])
def test_the_transformer_knows_the_order(bench, positions):
    training = importlib.import_module("benchmarks.papers.language_modelling_training")
    common = {"steps": 1, "clock": "wall", "batch_tokens": 1, "width": 64, "layers": 1, "rate": 1.0}
    settings = training.Settings(
        "", 8, "transformer", k=1, seed=0, threads=1, positions=positions, **common
    )
    encoder = ENCODERS["transformer"][0](settings.encoder).eval()
    rows = torch.randn(3, 64)
    ends = [
        encoder(Ragged.from_list([ordered])).tokens.values[-1]
        for ordered in (rows, rows[[1, 0, 2]])  # the same set before the last
    ]
    assert not torch.allclose(*ends, atol=1e-4)
