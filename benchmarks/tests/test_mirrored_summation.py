"""The benchmark of mirrored summation: tiny runs, the cache, interrupted runs, the figure."""

import csv
import importlib
import xml.etree.ElementTree as ET

import pytest
import torch
from safetensors.torch import load_file

SMALL = ["--length", "8", "--features", "2", "--width", "20", "--steps", "3", "--test", "64"]
NAME = "n8-d2-positions-none"


@pytest.fixture
def bench(tmp_path, monkeypatch):
    module = importlib.import_module("benchmarks.papers.mirrored_summation")
    monkeypatch.setattr(module, "BATCH", 8)
    return module


@pytest.fixture
def models():
    return importlib.import_module("benchmarks.papers.mirrored_summation_models")


def rows(folder):
    with (folder / "mirrored_summation" / f"{NAME}.csv").open() as file:
        return list(csv.DictReader(file))


def test_a_figure_of_all_models(bench, models, tmp_path, capsys):
    call = [*SMALL, "--terms", "2", "8", "--results", str(tmp_path)]
    assert bench.main(call) == 0
    assert "K 8, seed 0: MSE" in capsys.readouterr().out
    runs = rows(tmp_path)
    assert {(row["model"], row["terms"]) for row in runs} == {(m, k) for m in models.MODELS for k in "28"}
    assert all(float(row["chance"]) == pytest.approx(7 * float(row["linear"]), rel=1e-3) for row in runs)
    drawn = (tmp_path / "mirrored_summation" / f"{NAME}.svg").read_text()
    ET.fromstring(drawn)
    assert drawn.count("<polyline") == len(models.MODELS) + 2
    assert all(name in drawn for name in (*models.MODELS.values(), "chance", "best linear", "N 8, d 2"))
    # Once more: all from the cache, and nothing else in the files.
    assert bench.main(call) == 0
    assert "MSE" not in capsys.readouterr().out
    assert rows(tmp_path) == runs
    # A part of it: the others stay.
    assert bench.main([*call[:-4], "8", "--models", "hier", "--results", str(tmp_path)]) == 0
    assert rows(tmp_path) == runs
    assert bench.main([*call, "--draw"]) == 0
    assert (tmp_path / "mirrored_summation" / f"{NAME}.svg").read_text() == drawn


def test_an_interrupted_run_goes_on(bench, tmp_path, monkeypatch, capsys):
    call = [*SMALL, "--terms", "2", "--models", "hier", "--results"]
    assert bench.main([*call, str(tmp_path / "whole")]) == 0
    step = bench.Run.step
    monkeypatch.setattr("benchmarks.papers.set_tasks_training.SAVE_EVERY", 0.0)

    def interrupted(run):
        if run.counters.step == 2:
            raise KeyboardInterrupt
        return step(run)

    monkeypatch.setattr(bench.Run, "step", interrupted)
    assert bench.main([*call, str(tmp_path / "cut")]) == 130
    [state] = (tmp_path / "cut").rglob("*.safetensors")
    assert load_file(state)
    assert "stopped" in capsys.readouterr().err
    monkeypatch.setattr(bench.Run, "step", step)
    assert bench.main([*call, str(tmp_path / "cut")]) == 0
    assert not list((tmp_path / "cut").rglob("*.safetensors"))
    assert [row["mse"] for row in rows(tmp_path / "cut")] == [
        row["mse"] for row in rows(tmp_path / "whole")
    ]


def test_other_settings_are_other_runs(bench):
    def key(model, positions, *more):
        options = bench.arguments(["--positions", positions, *more])
        [(name, sizes, seed), *_] = bench.jobs(
            bench.arguments([*more, "--models", model, "--positions", positions])
        )
        return bench.settings_of(name, sizes, seed, options)

    assert key("flex", "none") != key("flex", "sinusoidal")
    assert key("transformer", "none") == key("transformer", "sinusoidal")
    assert key("flex", "none") != key("flex", "none", "--sequences", "500")


def test_every_epoch_sees_every_batch_once(bench):
    epochs = [[bench.batch_of_step(0, step, 10) for step in range(e * 10, e * 10 + 10)] for e in (0, 1)]
    assert sorted(epochs[0]) == sorted(epochs[1]) == list(range(10))
    assert epochs[0] != epochs[1]


@pytest.mark.parametrize(
    ("model", "layers", "scales"),
    [
        ("hier", 2, {"window 3": 10}),
        ("deep-hier", 6, {"window 3": 10}),
        ("flex", 2, {"window 3": 2, "window n/16": 2, "window n/8": 2, "window n/4": 2, "window n/2": 2}),
        ("transformer", 2, {"everything": 10}),
    ],
)
def test_the_models_of_the_paper(models, model, layers, scales):
    config = models.encoder_config(model, models.Sizes(100, 50, 10, 300, "none"))
    assert config.layers == len(config.layer_priors) == layers
    for priors in config.layer_priors:
        assert {str(prior): list(map(str, priors)).count(str(prior)) for prior in priors} == scales
    assert config.positions == ("sinusoidal" if model == "transformer" else "none")


@pytest.mark.parametrize("model", ["transformer", "flex", "deep-hier", "hier", "bilstm"])
def test_an_untrained_model_guesses_about_the_mean(bench, models, model):
    sizes = models.Sizes(20, 3, 6, 20, "none")
    torch.manual_seed(0)
    made = models.SequenceModel(model, sizes)
    task = bench.MirroredSummation(sizes, 64, 1, 64)
    loss = task.loss(made, [0, 0])
    loss.backward()
    assert loss.item() == pytest.approx(1, rel=0.8)  # in units of chance
    assert task.evaluate(made, 64)["mse"] == pytest.approx(loss.item() * made.deviation**2, rel=0.5)


def test_no_png_without_cairosvg(bench, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(importlib.import_module("sys").modules, "cairosvg", None)
    call = [*SMALL, "--terms", "2", "--models", "hier", "--results", str(tmp_path), "--png"]
    assert bench.main(call) == 2
    assert "pip install cairosvg" in capsys.readouterr().err


def test_a_figure_that_is_not_there(bench, tmp_path, capsys):
    assert bench.main(["--draw", "--results", str(tmp_path)]) == 2
    assert "cannot be read" in capsys.readouterr().err
