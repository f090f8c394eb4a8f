import io
import json
import sys

import cyclopts
import pytest

from headwise.app.cli.doctor_command import doctor
from headwise.core.errors import ConfigError


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Write files, run the command in their folder, and return (exit code, output)."""
    app = cyclopts.App(result_action="return_value")
    app.command(doctor)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def run(*arguments: str, **files: str):
        for name, text in files.items():
            (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
        code = app(["doctor", *arguments], exit_on_error=False, print_error=False)
        return code, capsys.readouterr().out

    return run


GOOD = "text,label\n" + "".join(f"film number {i},{i % 2}\n" for i in range(20))


def test_good_files(run):
    code, out = run("train.csv", "test.csv", train=GOOD, test=GOOD.replace("film", "book"))
    assert code == 0
    assert "train  train.csv\n" in out
    assert "text from column 'text', labels from column 'label'" in out
    assert "No problems found in 2 files." in out
    rows = [line.split() for line in out.splitlines()]
    assert ["train", "20", "20", "0", "3", "3.0", "3.0", "3", "3"] in rows
    assert ["1", "10", "(50.0%)", "10", "(50.0%)"] in rows


def test_errors_give_exit_code_one_and_are_located(run):
    code, out = run("train.csv", "none.csv", train=GOOD + "a,b,c\n")
    assert code == 1
    assert "2 errors\n" in out
    assert "HW110 a row of 3 fields; expected 2 as in line 1\n    at train.csv:22\n" in out
    assert "no such file" in out


def test_options_are_flags(run):
    flags = ["--no-header", "--delimiter", ";", "--text-column", "2", "--label-column", "1"]
    code, out = run("a.csv", *flags, a="1;x\n0;y")
    assert code == 0
    assert "text from column '2', labels from column '1'" in out


def test_json(run):
    code, out = run("train.csv", "--json", train=GOOD + "bad\x85 &amp;,2\n")
    data = json.loads(out)
    assert code == 0
    assert data["files"][0]["classes"][0] == ["0", 10, 10 / 21]
    assert [found["code"] for found in data["findings"]] == ["HW155", "HW157", "HW158"]


def test_standard_input(run, monkeypatch):
    data = io.TextIOWrapper(io.BufferedReader(io.BytesIO(GOOD.encode())))
    monkeypatch.setattr(sys, "stdin", data)
    code, out = run("-", "--format", "csv")
    assert code == 0
    assert "train  -\n" in out


def test_misspelt_options_and_no_files(run):
    with pytest.raises(cyclopts.CycloptsError, match="unknown option --jsn"):
        run("train.csv", "--jsn", train=GOOD)
    with pytest.raises(ConfigError, match="no files"):
        run()


def test_many_classes_are_cut(run):
    rows = "".join(f"film {i},class {i % 30}\n" for i in range(300))
    assert "and 18 more" in run("a.csv", a="text,label\n" + rows)[1]


def test_escape_sequences_do_not_reach_the_terminal(run):
    out = run("a.csv", a=GOOD + "film,\x1b[31mred\n" * 5)[1]
    assert "\x1b" not in out
    assert r"\x1b[31mred" in out


def test_long_lines_stay_within_the_terminal(run):
    code, out = run("a.csv", a="text,label\n" + "a b c d e f,x\n" * 50 + "a b c d e f,y\n" * 50)
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
