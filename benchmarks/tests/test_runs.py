import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest

SMALL = [{"train": {"epochs": 2}}]


def result(value=0.5):
    return {"test": value, "seconds": 1.0}


@pytest.fixture
def run(monkeypatch, tmp_path):
    from benchmarks.common.runs import Run, recipe_of

    return lambda **fields: Run(
        **{
            "task": "set/a",
            "system": "one + two",
            "seed": 0,
            "recipe": recipe_of(SMALL),
            "data": ["1", "2"],
            **fields,
        }
    )


def test_jobs_go_seed_by_seed_and_skip_what_is_not_random():
    from benchmarks.common.runs import jobs

    ordered = list(jobs(["a", "b"], ["model", "linear"], 2, ["linear"]))
    assert ordered == [
        ("a", "model", 0),
        ("a", "linear", 0),
        ("b", "model", 0),
        ("b", "linear", 0),
        ("a", "model", 1),
        ("b", "model", 1),
    ]


def test_what_is_known_is_not_run_again(run, tmp_path, capsys):
    from benchmarks.common.runs import collect, kept_run, recipe_of

    done, results = [], tmp_path / "set.jsonl"

    def measure(folder: Path):
        (folder / "training").mkdir(parents=True)
        (folder / "training" / "state").touch()
        done.append(folder)
        return result()

    changed = recipe_of([{"train": {"epochs": 3}}])
    for one in (run(), run(), run(seed=1), run(data=["1", "3"]), run(recipe=changed), run(seed=1)):
        kept_run(one, measure, results)
    assert len(done) == len(set(done)) == 4
    assert not [path for path in (tmp_path / "cache").iterdir() if path.is_dir()]  # the states are gone
    assert "set/a, one + two, seed 1" in capsys.readouterr().out
    by_task = collect(["set/a"], ["one + two"], lambda *_: changed, results)
    assert [stored["recipe"]["train"]["epochs"] for stored in by_task["set/a"]["one + two"]] == [3]
    by_task = collect(["set/a"], ["one + two"], lambda *_: recipe_of(SMALL), results)
    assert [stored["seed"] for stored in by_task["set/a"]["one + two"]] == [0, 0, 1]


def test_an_interrupted_run_finds_its_state_again(run, tmp_path):
    from benchmarks.common.runs import kept_run

    def stops(folder: Path):
        folder.mkdir()
        (folder / "state").write_text("half")
        raise KeyboardInterrupt

    def goes_on(folder: Path):
        assert (folder / "state").read_text() == "half"
        return result()

    with pytest.raises(KeyboardInterrupt):
        kept_run(run(), stops, tmp_path / "set.jsonl")
    kept_run(run(), goes_on, tmp_path / "set.jsonl")


def test_a_setting_that_is_newer_than_a_result_had_its_default(run, tmp_path):
    from benchmarks.common.runs import collect, kept_run, read_lines

    results = tmp_path / "set.jsonl"
    kept_run(run(), lambda _: result(), results)
    (old,) = read_lines(results)
    del old["recipe"]["train"]["patience"]
    results.write_text(json.dumps(old) + '\n{"task": "cut')
    assert collect(["set/a"], ["one + two"], lambda *_: run().recipe, results)["set/a"]["one + two"]
    kept_run(run(seed=1), lambda _: result(), results)  # behind a line that was cut off
    assert len(read_lines(results)) == 2


@pytest.fixture
def bench(monkeypatch, tmp_path):
    """A benchmark whose runs take no time."""
    from benchmarks.common.runs import Bench

    class Small(Bench):
        name = "small"
        paper = {"a": {"one": 1.0}, "b": {}}  # noqa: RUF012
        systems = ("one", "linear")
        more = ("rare",)
        once = ("linear",)

        def load(self, task):
            return task

        def layers(self, task, system):
            return [] if system == "linear" else SMALL

        def prints(self, data, system):
            return [data]

        def measure(self, data, task, system, seed, folder):
            if system == "rare":
                os.kill(os.getpid(), signal.SIGTERM)
            return result()

        def show(self, by_task):
            print(
                {task: {s: len(runs) for s, runs in systems.items()} for task, systems in by_task.items()}
            )

    monkeypatch.setattr("benchmarks.common.runs.DATA", tmp_path)
    return Small(tmp_path / "small.jsonl")


def test_a_part_of_the_runs_drops_no_other(bench, capsys):
    assert bench.main("", ["--seeds", "2"]) == 0
    before = bench.results.read_text()
    assert bench.main("", ["--only", "a", "--systems", "one", "--seeds", "3"]) == 0
    assert bench.results.read_text().startswith(before)
    assert bench.results.read_text().count("\n") == before.count("\n") + 1
    capsys.readouterr()


def test_the_table_never_writes_and_needs_no_data(bench, monkeypatch, tmp_path, capsys):
    assert bench.main("", ["--only", "a", "--seeds", "1"]) == 0
    before = bench.results.read_bytes()
    monkeypatch.setattr("benchmarks.common.runs.DATA", tmp_path / "none")
    monkeypatch.setattr("benchmarks.common.runs.append_line", None)
    capsys.readouterr()
    assert bench.main("", ["--table"]) == 0
    assert capsys.readouterr().out == "{'a': {'one': 1, 'linear': 1}, 'b': {'one': 0, 'linear': 0}}\n"
    assert bench.results.read_bytes() == before
    bench.results.unlink()
    assert bench.main("", ["--table"]) == 0
    assert not bench.results.exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--systems", "onne"], "unknown system 'onne'; did you mean one?"),
        (["--only", "zzz"], "unknown data set 'zzz'; expected one of a, b"),
    ],
)
def test_unknown_names(bench, words, message, capsys):
    with pytest.raises(SystemExit, match="2"):
        bench.main("", words)
    assert message in capsys.readouterr().err


def test_sigterm_ends_it_with_a_sentence(bench, capsys):
    assert bench.main("", ["--systems", "one", "rare", "--seeds", "1"]) == 130
    assert "stopped; the same command goes on where it was" in capsys.readouterr().err
    assert bench.results.read_text().count("\n") == 1


def test_judged_by_hand():
    from benchmarks.common.runs import judged, marks

    right, leaked = np.array([True, False, True, True]), np.array([False, False, True, False])
    scores = judged(right, leaked)
    assert (scores["test"], scores["test_fresh"]) == (0.75, 2 / 3)
    assert marks(scores).tolist() == [1, 0, 1, 1]
