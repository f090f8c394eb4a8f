"""The benchmark of the Set Transformer's tasks: short runs, interrupted runs, what is written."""

import importlib
import json
import signal

import pytest
from safetensors.torch import load_file

NAME, STATES = "max-regression-sab+pma-0", "cache/set_tasks"


@pytest.fixture
def bench(monkeypatch):
    """The module, with fewer sets to judge on."""
    module = importlib.import_module("benchmarks.papers.set_tasks")
    for task in module.TASKS.values():
        monkeypatch.setattr(task, "evaluation_sets", module.PART)
    return module


@pytest.fixture
def training(bench):
    return importlib.import_module("benchmarks.papers.set_tasks_training")


def result(folder, name):
    return json.loads((folder / "set_tasks" / f"{name}.json").read_text())


def weights(folder):
    return load_file(folder / STATES / f"{NAME}.safetensors")


def same(a, b):
    return a.keys() == b.keys() and all(a[key].equal(b[key]) for key in a)


@pytest.mark.parametrize(
    ("task", "model", "metrics"),
    [
        ("max-regression", "sab+pma", {"error"}),
        ("max-regression", "rff+sum", {"error"}),
        ("mixture", "isab16+pma", {"LL0", "LL1"}),
        ("mixture", "rff+mean", {"LL0", "LL1"}),
        ("mixture-unknown", "isab16+pma", {"LL0", "LL1"}),
        ("unique-characters", "sab+pma", {"accuracy"}),
        ("unique-characters", "rff+dot", {"accuracy"}),
        ("mixture", "rffp-max+mean", {"LL0", "LL1"}),
        ("point-clouds", "isab16+max", {"accuracy"}),
        ("masked-summation", "star-transformer", {"mse"}),
    ],
)
def test_a_short_run(bench, task, model, metrics, tmp_path, capsys):
    assert bench.main([task, "--model", model, "--steps", "2", "--results", str(tmp_path)]) == 0
    stored = result(tmp_path, f"{task}-{model}-0")
    assert stored["steps"] == stored["curve"][-1]["step"] == 2
    assert stored["finished"]
    assert stored["scores"].keys() == metrics
    published = task in ("max-regression", "mixture", "unique-characters")
    assert stored["paper"].keys() == (metrics if published else set())
    assert stored["parameters"] > 10_000
    if task == "mixture":
        assert stored["scores"]["LL1"] > stored["scores"]["LL0"]
        assert stored["references"]["oracle"]["LL0"] == pytest.approx(-1.47, abs=0.05)
    elif task == "max-regression":
        assert stored["references"]["best constant guess"]["error"] == pytest.approx(14.5, abs=2)
    picture = (tmp_path / "set_tasks" / f"{task}-{model}-0.svg").read_text()
    assert picture.count("<polyline") == len(metrics)
    assert model in picture
    assert ("paper" in capsys.readouterr().out) == published
    bench.main(["--table", "--results", str(tmp_path)])
    [row] = [
        line
        for line in capsys.readouterr().out.splitlines()
        if line.startswith(f"| {model} ") and "| 1 |" in line
    ]
    assert f"{stored['scores'][min(metrics)]:.4f}" in row


def test_more_steps_later_are_the_same_as_at_once(bench, tmp_path):
    for folder, plan in (("once", [6]), ("twice", [2, 6])):
        for steps in plan:
            bench.main(["max-regression", "--steps", str(steps), "--results", str(tmp_path / folder)])
    assert same(weights(tmp_path / "once"), weights(tmp_path / "twice"))
    assert result(tmp_path / "twice", NAME)["steps"] == 6


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_goes_on(bench, training, number, tmp_path, monkeypatch, capsys):
    step, call = training.Run.step, ["max-regression", "--steps", "5", "--results"]
    bench.main([*call, str(tmp_path / "whole")])
    before = signal.getsignal(number)

    def interrupted(run):
        value = step(run)
        if run.counters.step == 3:
            signal.raise_signal(number)
        return value

    monkeypatch.setattr(training.Run, "step", interrupted)
    monkeypatch.setattr(bench.TASKS["max-regression"], "evaluate_every", 2)
    assert bench.main([*call, str(tmp_path / "cut")]) == 128 + number
    assert not result(tmp_path / "cut", NAME)["finished"]
    assert signal.getsignal(number) is before
    assert "stopped in step 3" in capsys.readouterr().err
    monkeypatch.setattr(training.Run, "step", step)
    assert bench.main([*call, str(tmp_path / "cut")]) == 0
    assert same(weights(tmp_path / "whole"), weights(tmp_path / "cut"))
    assert result(tmp_path / "cut", NAME)["finished"]


def test_a_kill_costs_only_what_came_after_the_last_save(bench, training, tmp_path, monkeypatch):
    step = training.Run.step

    def killed(run):
        if run.counters.step == 3:
            raise SystemExit  # nothing is saved on the way out
        return step(run)

    call = ["max-regression", "--steps", "5", "--results", str(tmp_path)]
    monkeypatch.setattr(training, "SAVE_EVERY", 0.0)
    monkeypatch.setattr(training.Run, "step", killed)
    with pytest.raises(SystemExit):
        bench.main(call)
    monkeypatch.setattr(training.Run, "step", step)
    task = bench.TASKS["max-regression"]
    settings = training.Settings("sab+pma", 0, 5, 30, "wall", 0.7, "float32")
    run = training.Run(task, settings, tmp_path / STATES / f"{NAME}.safetensors")
    assert run.counters.step == 3


def test_minutes_count_over_all_sessions(bench, tmp_path):
    call = ["max-regression", "--results", str(tmp_path), "--minutes"]
    bench.main([*call, "0.0000001"])
    first = result(tmp_path, NAME)
    assert first["steps"] == 1
    bench.main([*call, "0.0000001"])
    assert result(tmp_path, NAME) == first


def test_a_stopped_run_is_judged_where_its_time_is_over(bench, training, tmp_path):
    settings = training.Settings("sab+pma", 0, 9, 30, "wall", 0.7, "float32")
    run = training.Run(bench.TASKS["max-regression"], settings, tmp_path / STATES / f"{NAME}.safetensors")
    run.step()
    run.save()
    assert bench.main(["max-regression", "--results", str(tmp_path), "--minutes", "0.0000001"]) == 0
    assert [point["step"] for point in result(tmp_path, NAME)["curve"]] == [1]


@pytest.mark.parametrize(("clock", "steps"), [("wall", 1), ("processor", 3)])
def test_the_clock_that_counts(bench, training, clock, steps, tmp_path):
    settings = training.Settings("sab+pma", 0, 3, 1.0, clock, 0.7, "float32")
    run = training.Run(bench.TASKS["max-regression"], settings, tmp_path / "state.safetensors")
    while run.share < 1:
        run.step()
        run.counters.seconds += 60  # others have the processor
    assert run.counters.step == steps


def test_the_learning_rate_falls_late_in_a_run(bench, training, tmp_path):
    settings = training.Settings("rff+mean", 0, 10, 30, "wall", 0.7, "float32")
    run = training.Run(bench.TASKS["mixture"], settings, tmp_path / "state.safetensors")
    rates = []
    while run.share < 1:
        run.step()
        rates.append(run.optimizer.param_groups[0]["lr"])
    assert rates == pytest.approx([1e-3] * 7 + [1e-4] * 3)


def test_errors(bench, tmp_path, capsys):
    call = ["max-regression", "--steps", "1", "--results", str(tmp_path)]
    assert bench.main([*call, "--model", "sab"]) == 2
    assert "unknown model of sets 'sab'" in capsys.readouterr().err
    assert bench.main(call) == 0
    assert bench.main([*call, "--precision", "bfloat16"]) == 2
    assert "the state of another run" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        bench.main([])


def test_long_curves_are_thinned(bench):
    thinned = importlib.import_module("benchmarks.papers.set_tasks_output").thinned
    for points in (1, 59, 60, 61, 200):
        curve = [{"step": step} for step in range(points)]
        assert len(thinned(curve)) <= 60
        assert thinned(curve)[-1] == curve[-1]
    assert thinned(curve[:60]) == curve[:60]


def test_features_that_were_brought(bench, tmp_path, capsys):
    import numpy as np

    random = np.random.default_rng(0)
    parts = {}
    for part in ("train", "test"):
        labels = np.repeat(np.arange(6), 40)
        parts[f"{part}_labels"] = labels
        parts[part] = (8 * np.eye(6)[labels] + random.normal(size=(240, 6))).astype(np.float32)
    path, call = tmp_path / "features.npz", ["cifar100", "--steps", "1", "--results", str(tmp_path)]
    np.savez(path, **parts)
    with pytest.raises(SystemExit):
        bench.main(call)
    assert "cifar100 needs --data: an .npz" in capsys.readouterr().err
    task = bench.TASKS["cifar100"]
    task.__dict__.pop("images", None)
    assert bench.main([*call, "--data", str(path), "--model", "rff+pma"]) == 0
    stored = result(tmp_path, "cifar100-rff+pma-0")
    assert stored["paper"] == {"ARI0": 0.7612, "ARI1": 0.767}
    assert -0.2 < stored["scores"]["ARI0"] <= 1
    points, labels = task.draw([3], 2)
    assert {len(set(part)) for part in np.split(labels, np.cumsum(points.layout.sizes)[:-1])} == {4}
    task.__dict__.pop("images", None)
    path.write_bytes(b"no archive")
    assert bench.main([*call, "--data", str(path), "--model", "rff+pma"]) == 2
    assert "expected an .npz with train, train_labels" in capsys.readouterr().err
    np.savez(path, **(parts | {"test_labels": labels[:3]}))
    assert bench.main([*call, "--data", str(path), "--model", "rff+pma"]) == 2
    assert "expected a row and a label for each image" in capsys.readouterr().err


def test_likeliest_clusters():
    import torch

    from benchmarks.papers.mixture import Mixture, assigned
    from headwise.nn.ragged import Ragged

    points = Ragged.from_lengths(torch.tensor([[0.0], [4.0], [5.0], [1.0]]), [3, 1])
    means = torch.tensor([[[0.0], [5.0]], [[2.0], [9.0]]])
    mixture = Mixture(torch.zeros(2, 2), means, torch.ones(2, 2, 1))
    assert assigned(points, mixture).tolist() == [0, 1, 1, 0]
