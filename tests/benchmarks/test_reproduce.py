"""benchmarks/reproduce.py: every row has a state, and a command or a reason; tables are never written."""

import re
import shlex

import pytest

from headwise.cli import main
from headwise.recipe import build_recipe


@pytest.fixture
def reproduce(monkeypatch, tmp_path):
    import reproduce
    from accuracy import Accuracy

    class Quick(Accuracy):
        def load(self, task):
            return task

        def prints(self, data, system):
            return [data]

        def measure(self, data, task, system, seed, folder):
            right = {"transformer": "80", "ms-transformer": "c0"}[system]
            return {"test": int(right, 16).bit_count() / 2, "test_texts": 2, "right": right, "seconds": 1.0}

    monkeypatch.setattr("runs.CACHE", tmp_path / "cache")
    monkeypatch.setattr(reproduce, "DATA", tmp_path)
    monkeypatch.setitem(reproduce.BENCHES, "accuracy", Quick(tmp_path / "accuracy.jsonl"))
    return reproduce


def test_every_row_can_run_or_says_why_not(reproduce):
    for table in reproduce.TABLES.values():
        assert len({row.name for row in table.rows}) == len(table.rows)
        for row in table.rows:
            assert sum(map(bool, (row.bench, row.command, row.bring, row.missing))) == 1
            if row.command:
                assert (reproduce.HERE / row.command.split()[0]).is_file()
            for task in row.tasks:
                bench = reproduce.BENCHES[row.bench]
                assert task in bench.paper
                assert row.system in (*bench.systems, *bench.more)
                layers = bench.layers(task, row.system)
                assert row.system in bench.once or build_recipe(*layers)


def test_commands_for_data_that_you_bring_lack_nothing_but_the_data(
    reproduce, capsys, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    rows = [row for table in reproduce.TABLES.values() for row in table.rows]
    commands = [own for row in rows for own in re.findall(r"headwise (train [^;]+)", row.bring)]
    assert len(commands) >= 10
    for command in commands:
        assert main(shlex.split(command)) == 2
        assert f"[HW101] {command.split()[1]}: no such file" in capsys.readouterr().err


def test_the_list(reproduce, capsys):
    assert reproduce.main(["--list"]) == 0
    out = capsys.readouterr().out
    assert "ms-trans/table6: Scale distributions" in out
    assert "measured here: 3 seeds" in out
    assert "bring data: enwik8.zip" in out


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
    kept = reproduce.BENCHES["accuracy"].results.read_bytes()
    assert reproduce.main(words) == 0
    assert reproduce.main(["ms-trans/table2", "--table"]) == 0
    out = capsys.readouterr().out
    assert "| ms-transformer | 1 of 1 | 100.0 ± 0.0 (2) | - | 51.90 | +50.00 (" in out
    assert reproduce.BENCHES["accuracy"].results.read_bytes() == kept


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ms-trans/tabel2"], "did you mean ms-trans/table2?"),
        (["ms-trans/table2", "--only", "x"], "unknown row 'x'"),
        (["ms-trans/table2", "--only", "x", "--table"], "unknown row 'x'"),
        (["--only", "x"], "name the table of the rows"),
        (["ms-trans/table2", "--seeds", "0"], "expected 1 or more"),
    ],
)
def test_unknown_names(reproduce, words, said, capsys):
    with pytest.raises(SystemExit):
        reproduce.main(words)
    assert said in capsys.readouterr().err


def test_rows_that_are_asked_for_are_those_shown(reproduce, capsys):
    assert reproduce.main(["ms-trans/table2", "--only", "disan", "s-lstm", "--table"]) == 0
    _, _, *rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert [row.split("|")[1].strip() for row in rows] == ["disan", "s-lstm"]


def test_the_example_of_the_help_names_rows_that_there_are(reproduce):
    found = re.search(r"reproduce.py (\S+) --only (.+) --seeds", reproduce.__doc__)
    assert {*found[2].split()} <= {row.name for row in reproduce.TABLES[found[1]].rows}


def test_without_the_data_that_is_said(reproduce, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(reproduce, "DATA", tmp_path / "nowhere")
    assert reproduce.main(["ms-trans/table2", "--only", "transformer", "--seeds", "1"]) == 2
    assert "nowhere; set HEADWISE_DATA" in capsys.readouterr().err
