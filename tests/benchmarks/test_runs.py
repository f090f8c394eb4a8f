import json
from pathlib import Path

import numpy as np
import pytest

SMALL = [{"train": {"epochs": 2}}]


def result(value=0.5):
    return {"test": value, "seconds": 1.0}


@pytest.fixture
def run():
    from runs import Run, recipe_of

    return lambda **other: Run(
        **{
            "task": "set/a",
            "system": "one + two",
            "seed": 0,
            "recipe": recipe_of(SMALL),
            "data": ["1", "2"],
            **other,
        }
    )


def test_jobs_go_seed_by_seed_and_skip_what_is_not_random():
    from runs import jobs

    found = list(jobs(["a", "b"], ["model", "linear"], 2, ["linear"]))
    assert found == [
        ("a", "model", 0),
        ("a", "linear", 0),
        ("b", "model", 0),
        ("b", "linear", 0),
        ("a", "model", 1),
        ("b", "model", 1),
    ]


def test_what_is_in_the_cache_is_not_run_again(run, tmp_path, capsys):
    from runs import cached_run, collect, recipe_of

    done = []

    def measure(folder: Path):
        (folder / "training").mkdir(parents=True)
        (folder / "training" / "state").touch()
        done.append(folder)
        return result()

    changed = recipe_of([{"train": {"epochs": 3}}])
    for one in (run(), run(), run(seed=1), run(data=["1", "3"]), run(recipe=changed), run(seed=1)):
        cached_run(one, measure, tmp_path)
    assert len(done) == len(set(done)) == 4
    assert not [path for path in tmp_path.iterdir() if path.is_dir()]  # the states are gone
    assert "set/a, one + two, seed 1" in capsys.readouterr().out
    found = collect(["set/a"], ["one + two"], lambda *_: changed, tmp_path)
    assert [own["recipe"]["train"]["epochs"] for own in found["set/a"]["one + two"]] == [3]
    found = collect(["set/a"], ["one + two"], lambda *_: recipe_of(SMALL), tmp_path)
    assert [own["seed"] for own in found["set/a"]["one + two"]] == [0, 0, 1]


def test_an_interrupted_run_finds_its_state_again(run, tmp_path):
    from runs import cached_run

    def stops(folder: Path):
        folder.mkdir()
        (folder / "state").write_text("half")
        raise KeyboardInterrupt

    def goes_on(folder: Path):
        assert (folder / "state").read_text() == "half"
        return result()

    with pytest.raises(KeyboardInterrupt):
        cached_run(run(), stops, tmp_path)
    cached_run(run(), goes_on, tmp_path)


def test_a_setting_that_is_newer_than_a_result_had_its_default(run, tmp_path):
    from runs import cached_run, collect

    cached_run(run(), lambda _: result(), tmp_path)
    (path,) = tmp_path.glob("*.json")
    old = json.loads(path.read_text())
    del old["recipe"]["train"]["patience"]
    path.write_text(json.dumps(old))
    assert collect(["set/a"], ["one + two"], lambda *_: run().recipe, tmp_path)["set/a"]["one + two"]


def test_judged_by_hand():
    from runs import judged

    right, leaked = np.array([True, False, True, True]), np.array([False, False, True, False])
    found = judged(right, leaked)
    assert (found["test"], found["test_fresh"], found["right"]) == (0.75, 2 / 3, "1011")
