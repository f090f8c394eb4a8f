"""The benchmark of multiple-instance learning: folds, the cache, the table."""

import gzip
import importlib
import json

import numpy as np
import pytest


def written(count=24):
    random = np.random.default_rng(0)
    lines = []
    for n in range(count):
        for _ in range(random.integers(1, 4)):
            x = random.normal(4 * (n % 2), 1, 3)
            lines.append(f"{n % 2},{n}," + ",".join(f"{value:.3f}" for value in x))
    return "\n".join(lines) + "\n"


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """The module, with a small data set, few folds and short trainings."""
    module = importlib.import_module("benchmarks.papers.multiple_instance")
    (tmp_path / "mil").mkdir()
    (tmp_path / "mil" / "musk1.csv.gz").write_bytes(gzip.compress(written().encode()))
    monkeypatch.setattr(module, "DATA", tmp_path)
    monkeypatch.setattr(module, "FOLDS", 3)
    settings = module.settings_of

    def shorter(name, seed):
        from dataclasses import replace

        config, training = settings(name, seed)
        small = replace(config, bags=replace(config.bags, width=8, heads=2))
        return small, replace(training, epochs=2)

    monkeypatch.setattr(module, "settings_of", shorter)
    return module


@pytest.fixture
def data(bench):
    return bench.read_bags(bench.DATA / "mil" / "musk1.csv.gz")


def test_every_bag_is_tested_once_and_nothing_is_in_two_parts(bench, data):
    made = list(bench.folds(data.items, 0))
    assert sorted(np.concatenate([fold.places for fold in made])) == list(range(24))
    for fold in made:
        ids = [{bag.id for bag in part} for part in (fold.train, fold.dev, fold.test)]
        assert sum(map(len, ids)) == len(set().union(*ids)) == 24
        assert [bag.id for bag in fold.test] == [data.items[place].id for place in fold.places]
        assert {bag.label for bag in fold.test} == {bag.label for bag in fold.dev} == {"0", "1"}
    reordered = np.concatenate([fold.places for fold in bench.folds(data.items, 1)])
    assert list(reordered) != list(np.concatenate([fold.places for fold in made]))


def test_a_table(bench, tmp_path, capsys, monkeypatch):
    call = ["--only", "musk1", "--models", "sab+pma", "rff+mean", "linear", "--seeds", "2"]
    call += ["--results", str(tmp_path)]
    assert bench.main(call) == 0
    output = capsys.readouterr().out
    results = json.loads((tmp_path / "multiple_instance.json").read_text())["sets"]["musk1"]
    assert list(results) == ["sab+pma", "rff+mean", "linear"]
    for name, result in results.items():
        assert result["seeds"] == 2
        assert len(result["right"]) == 24
        assert result["accuracy"] == pytest.approx(np.mean(result["right"]), abs=1e-4)
        assert f"| {bench.MODELS[name]} | {100 * result['accuracy']:.1f} ± " in output
    assert results["linear"]["accuracy"] > 0.9
    # Once more, from the cache.
    monkeypatch.setattr(bench, "run_fold", None)
    assert bench.main(call) == 0
    assert bench.main([*call, "--table"]) == 0
    again = capsys.readouterr().out
    assert again.count(output[output.index("\nmusk1: 24 bags") :]) == 2


def test_what_is_stopped_goes_on(bench, data, tmp_path, monkeypatch):
    run_fold, done = bench.run_fold, []

    def stopping(*arguments):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(1)
        return run_fold(*arguments)

    monkeypatch.setattr(bench, "run_fold", stopping)
    with pytest.raises(KeyboardInterrupt):
        bench.run(data, "musk1", "rff+mean", 0, tmp_path)
    counted = []
    monkeypatch.setattr(bench, "run_fold", lambda *a: counted.append(1) or run_fold(*a))
    assert len(bench.run(data, "musk1", "rff+mean", 0, tmp_path)) == 3
    assert len(counted) == 1


def test_other_settings_are_other_runs(bench, data):
    identities = {
        bench.identity(data, name, seed) for name in ("sab+pma", "rff+mean", "linear") for seed in (0, 1)
    }
    assert len(identities) == 6


def test_the_gap_between_two_models(bench):
    gain, low, high = bench.gap([1, 1, 1, 0.5], [0, 0, 0, 0.5])
    assert (gain, high) == (75, 100)
    assert 20 < low < 75
    assert bench.gap([1, 0], [1, 0]) == (0, 0, 0)


def test_without_the_data(bench, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(bench, "DATA", tmp_path / "nowhere")
    assert bench.main([]) == 2
    assert "set HEADWISE_DATA" in capsys.readouterr().err
