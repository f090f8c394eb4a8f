"""reproduce.py: every row has a state, and a command or a reason; tables are never written."""

import json
import re
import shlex
import time
from importlib.util import find_spec

import pytest

from headwise.app.cli import main
from headwise.app.configuration import build_config


@pytest.fixture
def reproduce(monkeypatch, tmp_path):
    from benchmarks.papers import reproduce
    from benchmarks.papers.accuracy import Accuracy

    class Quick(Accuracy):
        def load(self, task):
            return task

        def prints(self, data, system):
            return [data]

        def measure(self, data, task, system, seed, folder):
            right = {"transformer": "80", "ms-transformer": "c0"}[system]
            return {"test": int(right, 16).bit_count() / 2, "test_texts": 2, "right": right, "seconds": 1.0}

    monkeypatch.setattr(reproduce, "DATA", tmp_path)
    monkeypatch.setitem(reproduce.BENCHES, "accuracy", Quick(tmp_path / "accuracy.jsonl"))
    monkeypatch.setattr(reproduce, "TABLES", dict(reproduce.TABLES))
    return reproduce


def test_every_row_can_run_or_says_why_not(reproduce):
    for table in reproduce.TABLES.values():
        assert len({row.name for row in table.rows}) == len(table.rows)
        for row in table.rows:
            assert sum(map(bool, (row.bench, row.command, row.bring, row.missing))) == 1
            assert bool(row.results) >= bool(row.command)
            if row.command:
                assert find_spec(row.command.split()[0])
            for task in row.tasks:
                bench = reproduce.BENCHES[row.bench]
                assert task in bench.paper
                assert row.system in (*bench.systems, *bench.more)
                layers = bench.layers(task, row.system)
                assert row.system in bench.once or build_config(*layers)


def test_commands_for_data_that_you_bring_lack_nothing_but_the_data(reproduce, capsys, monkeypatch):
    monkeypatch.chdir(reproduce.ROOT)
    rows = [row for table in reproduce.TABLES.values() for row in table.rows]
    commands = [command for row in rows for command in re.findall(r"headwise (train [^;]+)", row.bring)]
    assert len(commands) >= 30
    for command in commands:
        assert main(shlex.split(command)) == 2
        assert f"[HW101] {command.split()[1]}: no such file" in capsys.readouterr().err
    scripts = {script for row in rows for script in re.findall(r"python -m (\S+)", row.bring)}
    assert scripts == {"benchmarks.papers.set_tasks", "benchmarks.papers.translation"}


def test_the_list(reproduce, capsys):
    assert reproduce.main(["--list"]) == 0
    out = capsys.readouterr().out
    assert "ms-trans/table6: Scale distributions" in out
    assert "measured here: 3 seeds" in out
    assert "bring data: enwik8.zip" in out
    assert "not run: the paper quotes it of others" in out
    assert "reproduce.py TABLE --only ROW runs it" in out


def test_a_table_runs_seed_by_seed_and_goes_on(reproduce, capsys):
    words = ["ms-trans/table2", "--only", "transformer", "ms-transformer", "--seeds", "2"]
    assert reproduce.main(words) == 0
    out = capsys.readouterr().out
    order = [line.split(", ")[1:] for line in out.splitlines() if line.startswith("sst5, ")]
    assert order == [
        ["transformer", "seed 0"],
        ["ms-transformer", "seed 0"],
        ["transformer", "seed 1"],
        ["ms-transformer", "seed 1"],
    ]
    stored = reproduce.BENCHES["accuracy"].results.read_bytes()
    assert reproduce.main(words) == 0
    assert reproduce.main(["ms-trans/table2", "--table"]) == 0
    out = capsys.readouterr().out
    assert "| ms-transformer | 1 of 1 | 100.0 ± 0.0 (2) | - | 51.90 | +50.00 (" in out
    assert reproduce.BENCHES["accuracy"].results.read_bytes() == stored


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["ms-trans/tabel2"], "did you mean 'ms-trans/table2'"),
        (["table6"], "did you mean 'ms-trans/table6'?"),
        (["ms-trans/table2", "--only", "self"], "did you mean 'bilstm + self-att'"),
        (["ms-trans/table2", "--only", "x"], "unknown row 'x'"),
        (["ms-trans/table2", "--only", "x", "--table"], "unknown row 'x'"),
        (["--only", "x"], "name the table of the rows"),
        (["ms-trans/table2", "--seeds", "0"], "expected 1 or more"),
    ],
)
def test_unknown_names(reproduce, words, message, capsys):
    with pytest.raises(SystemExit):
        reproduce.main(words)
    assert message in capsys.readouterr().err


def test_rows_that_are_asked_for_are_those_shown(reproduce, capsys):
    assert reproduce.main(["ms-trans/table2", "--only", "disan", "s-lstm", "--table"]) == 0
    _, _, *rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert [row.split("|")[1].strip() for row in rows] == ["disan", "s-lstm"]


def test_the_example_of_the_help_names_rows_that_there_are(reproduce):
    match = re.search(r"reproduce (\S+) --only (.+) --seeds", reproduce.__doc__)
    assert {*match[2].split()} <= {row.name for row in reproduce.TABLES[match[1]].rows}


def test_without_the_data_that_is_said(reproduce, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(reproduce, "DATA", tmp_path / "nowhere")
    assert reproduce.main(["ms-trans/table2", "--only", "transformer", "--seeds", "1"]) == 2
    assert "nowhere; set HEADWISE_DATA" in capsys.readouterr().err


@pytest.fixture
def script(reproduce, monkeypatch, tmp_path):
    """A table of one row, whose command leaves a result for each seed, and what the command does."""
    from benchmarks.papers.reproduce_row import Row, Table

    row = Row("a", command="run", results="set_tasks/max-regression-a-*.json", seeded=True)
    monkeypatch.setitem(reproduce.TABLES, "made/table", Table("Made", (row,)))
    monkeypatch.setattr("benchmarks.papers.reproduce_kept.RESULTS", tmp_path)
    (tmp_path / "set_tasks").mkdir()
    keep = """
import json, sys
seed = int(sys.argv[2])
run = {"task": "max-regression", "model": "a", "seed": seed, "steps": 20000, "references": {}}
run["scores"] = {"error": 0.5 + seed}
open(f"set_tasks/max-regression-a-{seed}.json", "w").write(json.dumps(run))
"""
    monkeypatch.chdir(tmp_path)

    def write(text=keep):
        (tmp_path / "run.py").write_text(text)

    return write


def test_a_command_runs_for_each_seed_that_is_not_there(reproduce, script, capsys):
    script()
    assert reproduce.main(["made/table", "--seeds", "1"]) == 0
    assert "a: run --seed 0\n" in capsys.readouterr().out
    assert reproduce.main(["made/table", "--seeds", "2"]) == 0
    out = capsys.readouterr().out
    assert "--seed 0" not in out
    assert "a: run --seed 1\n" in out
    assert "| a | error 1 ± 0.71 (2) |" in out
    assert reproduce.main(["made/table", "--list"]) == 0
    assert "measured here: 2 seeds, 20,000 steps" in capsys.readouterr().out


def test_a_run_that_was_stopped_goes_on(reproduce, script, tmp_path, capsys):
    script()
    assert reproduce.main(["made/table", "--seeds", "1"]) == 0
    path = tmp_path / "set_tasks" / "max-regression-a-0.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"steps": 2000, "finished": False}))
    capsys.readouterr()
    assert reproduce.main(["made/table", "--list"]) == 0
    assert "1 seed, 2,000 of 20,000 steps, stopped" in capsys.readouterr().out
    assert reproduce.main(["made/table", "--seeds", "1"]) == 0
    out = capsys.readouterr().out
    assert "a: run --seed 0\n" in out
    assert "| 20,000 steps |" in out


def test_a_command_that_fails_is_told(reproduce, script, capsys):
    script("raise SystemExit(3)")
    assert reproduce.main(["made/table", "--seeds", "1"]) == 1
    captured = capsys.readouterr()
    assert "a: the command ended with 3" in captured.err
    assert "- a: not measured yet: python -m run" in captured.out


def test_a_command_is_asked_to_stop_once_and_waited_for(reproduce, script, tmp_path, capsys):
    """It saves what it has, however long that takes."""
    script(
        """
import os, signal, time, pathlib
os.kill(os.getppid(), signal.SIGTERM)
try:
    time.sleep(60)
except KeyboardInterrupt:
    time.sleep(0.5)
    pathlib.Path("saved").touch()
    raise SystemExit(130)
"""
    )
    assert reproduce.main(["made/table", "--seeds", "1"]) == 130
    assert (tmp_path / "saved").exists()
    assert "the same command goes on" in capsys.readouterr().err


def test_a_second_signal_ends_a_command_at_once(reproduce, script, tmp_path):
    script(
        """
import os, signal, time, pathlib
signal.signal(signal.SIGINT, signal.SIG_IGN)
os.kill(os.getppid(), signal.SIGTERM)
time.sleep(0.5)
os.kill(os.getppid(), signal.SIGTERM)
time.sleep(30)
pathlib.Path("went on").touch()
"""
    )
    began = time.monotonic()
    assert reproduce.main(["made/table", "--seeds", "1"]) == 130
    assert time.monotonic() - began < 20
    assert not (tmp_path / "went on").exists()


def test_rows_that_nothing_can_run(reproduce, capsys):
    assert reproduce.main(["bpt/table-characters", "--only", "enwik8, context 8,192"]) == 2
    assert "enwik8, context 8,192: bring data: enwik8.zip" in capsys.readouterr().out
    assert reproduce.main(["bpt/table-characters", "--only", "enwik8, context 8,192", "--table"]) == 0
    assert "- enwik8, context 8,192 (paper: 1.02): bring data" in capsys.readouterr().out


def test_runs_that_do_not_say_which_texts_they_had_right_are_not_paired(reproduce, monkeypatch, capsys):
    bench = reproduce.BENCHES["accuracy"]
    measure = type(bench).measure

    def bare(self, *arguments):
        return {name: value for name, value in measure(self, *arguments).items() if name != "right"}

    monkeypatch.setattr(type(bench), "measure", bare)
    words = ["ms-trans/table2", "--only", "transformer", "ms-transformer", "--seeds", "1"]
    assert reproduce.main(words) == 0
    assert (
        "| ms-transformer | 1 of 1 | 100.0 (1) | - | 51.90 | +50.00 (not paired) |"
        in capsys.readouterr().out
    )


def test_differences_say_how_many_of_the_data_sets_they_are_of(reproduce, capsys):
    bench = reproduce.BENCHES["accuracy"]
    for system in ("transformer", "ms-transformer"):
        bench.run("mtl16/MR", system, 0)
    words = ["ms-trans/table3", "--only", "ms-transformer", "transformer", "--table"]
    assert reproduce.main(words) == 0
    out = capsys.readouterr().out
    assert "1 pair on 1 of 16 data sets)" in out
    assert (
        "| ms-transformer | 1 of 16 | 100.0 (1) | - | 79.25 |" in out
    )  # the paper's of the same data sets
    assert "minus ...: on the same test texts" in out


def test_published_numbers_are_those_of_the_papers(reproduce):
    """MS-Trans Table 3's printed averages; two of them are not those of its rows."""
    from benchmarks.papers.accuracy import PAPER

    domains = [accuracies for task, accuracies in PAPER.items() if task.startswith("mtl16/")]
    means = {name: sum(accuracies[name] for accuracies in domains) / 16 for name in domains[0]}
    printed = {"ms-transformer": 86.34, "transformer": 82.78, "bilstm": 84.25, "s-lstm": 85.62}
    assert {name: round(means[name], 2) for name in printed} == printed
