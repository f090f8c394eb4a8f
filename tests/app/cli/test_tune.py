"""`headwise tune`: a table, a recipe, and going on."""

import json
import re
import tomllib

import numpy as np
import pytest

from headwise.app.configuration import build_config
from headwise.app.workflows.trials import TrialLog, Trials
from headwise.core.errors import TrainingInterrupted
from headwise.core.file_lock import locked


def test_tune(run, tmp_path, monkeypatch):
    add = TrialLog.add
    monkeypatch.setattr(
        TrialLog, "add", lambda runs, key, tally, _: add(runs, key, tally, 0.1)
    )  # on any machine
    rows = "".join(f"{'no' if n % 3 else 'yes'}\t{'a b' if n % 3 else 'c d'} {n}\n" for n in range(40))
    file, recipe = tmp_path / "texts.tsv", tmp_path / "small.toml"
    file.write_text("label\ttext\n" + rows)
    recipe.write_text(
        '[base]\nname = "none"\n[encoder]\nname = "ms-transformer"\nwidth = 8\nheads = 2\nhead_size = 4\n'
        "layers = 1\n[train]\nepochs = 1\n"
    )
    given = [str(file), "--recipe", str(recipe), "--seeds", "1"]
    code, out, err = run("tune", *given, "--minutes", "0.03")
    assert code == 0, err
    assert "gain over the" in out
    assert max(map(len, out.partition("\n\n")[0].splitlines())) <= 80
    assert "the time is over" in err
    folder = tmp_path / "texts.tsv.tuned"
    found = tomllib.loads((folder / "recipe.toml").read_text())
    assert build_config(found).model.encoder.width in (4, 8, 16)
    runs = (folder / "search.jsonl").read_bytes()
    code, out, err = run("tune", *given, "--minutes", "0.03", "--json")
    assert code == 0, err
    assert json.loads(out)["tried"]
    assert (folder / "search.jsonl").read_bytes() == runs
    code, out, err = run("tune", *given, "--minutes", "0.001", "--output", str(tmp_path / "short"))
    assert code == 0, err
    assert "Nothing but the defaults was tried, as the time was over: give more --minutes." in out
    code, _, err = run("tune", str(tmp_path / "none.tsv"))
    assert code == 2
    assert "none.tsv" in err


def test_what_makes_no_difference_is_told(run, tmp_path, monkeypatch):
    """A table of zeros looks like a defect."""

    def tally(self, change, share, trial, until=0.0):
        judged = self._parts(share, trial)[1]
        loss = 0.5 if "base" in change else 1.0
        return np.tile(np.float32([loss, 1, 1]), (len(judged), 1)), True

    monkeypatch.setattr(Trials, "metric_parts", tally)
    file = tmp_path / "texts.csv"
    file.write_text("text,label\n" + "".join(f"text {n},{'ab'[n % 2]}\n" for n in range(40)))
    code, out, err = run("tune", str(file), "--output", str(tmp_path / "found"))
    assert code == 0, err
    told = " ".join(out.split())
    assert re.search(
        r" \d+ candidates made no difference to any item: where the linear model decides", told
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (False, "items not used to choose it"),
        (True, "40 items also used to choose it, with other seeds"),
    ],
)
def test_what_confirms_is_said_to_have_chosen_too_where_it_has(given, said, run, tmp_path, monkeypatch):
    def tally(self, change, share, trial, until=0.0):
        judged = self._parts(share, trial)[1]
        return np.tile(np.float32([0.5 if change else 1.0, 1, 1]), (len(judged), 1)), True

    monkeypatch.setattr(Trials, "metric_parts", tally)
    file, folder = tmp_path / "texts.csv", tmp_path / "found"
    file.write_text("text,label\n" + "".join(f"text {n},{'ab'[n % 2]}\n" for n in range(40)))
    dev = ["--dev", str(file)] if given else []
    code, out, err = run("tune", str(file), "--output", str(folder), *dev)
    assert code == 0, err
    assert said in " ".join(out.split())
    assert said in (folder / "recipe.toml").read_text()


@pytest.mark.parametrize("command", [("tune", "-"), ("priors", "--search", "-")])
def test_a_search_goes_over_its_file_again(run, tmp_path, command):
    code, _, err = run(*command, stdin=b"text,label\na film,good\n")
    assert code == 2
    assert "a resumed search reads its file again" in " ".join(err.split())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", [("tune",), ("priors", "--search")])
def test_a_recipe_of_somebody_elses_stays(run, tmp_path, command):
    file, mine = tmp_path / "texts.csv", tmp_path / "found" / "recipe.toml"
    file.write_text("text,label\n" + "".join(f"text {n},{'ab'[n % 2]}\n" for n in range(40)))
    mine.parent.mkdir()
    mine.write_text("[train]\nepochs = 3\n")
    code, _, err = run(*command, str(file), "--output", str(mine.parent), "--minutes", "0.01")
    assert (code, "[HW601]" in err) == (2, True), err
    assert "is not of a search" in " ".join(err.split())
    assert [path.name for path in mine.parent.iterdir()] == ["recipe.toml"]
    assert mine.read_text() == "[train]\nepochs = 3\n"


def test_few_items_choose_nothing(run, tmp_path):
    file = tmp_path / "few.csv"
    file.write_text("text,label\n" + "".join(f"text {n},{'ab'[n % 2]}\n" for n in range(12)))
    code, _, err = run("tune", str(file))
    assert code == 2
    assert "10 texts; expected 20 or more to choose settings by" in " ".join(err.split())


def test_one_search_at_a_time_writes_to_a_folder(run, tmp_path):
    file, folder = tmp_path / "texts.csv", tmp_path / "found"
    file.write_text("text,label\n" + "".join(f"text {n},{'ab'[n % 2]}\n" for n in range(40)))
    with locked(folder):
        code, _, err = run("tune", str(file), "--output", str(folder))
    assert code == 2
    assert "HW408" in err


def test_a_signal_is_told_by_the_exit_code(run, tmp_path, monkeypatch):
    def stopped(*_, **__):
        raise TrainingInterrupted("stopped", 15)

    file = tmp_path / "texts.csv"
    file.write_text("text,label\n" + "".join(f"text {n},{'ab'[n % 2]}\n" for n in range(40)))
    monkeypatch.setattr("headwise.app.workflows.tune.tune_file", stopped)
    assert run("tune", str(file), "--output", str(tmp_path / "found"))[0] == 143
