import io
import os
import shlex
import subprocess
import sys
import time

import pytest
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from headwise.app.cli import console as console_module
from headwise.app.cli.console import (
    columns,
    fail,
    note,
    percent,
    print_json,
    standard_output,
    visible,
    warn,
    working,
)


@pytest.mark.parametrize("say", [note, warn, fail])
def test_messages_go_to_standard_error_as_one_line_and_literally(say, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    say("[bold]:smile: " + "word " * 40 + "\x1b[2J")
    out, err = capsys.readouterr()
    assert not out
    assert err.count("\n") == 1
    assert "[bold]:smile: word" in err
    assert "\\x1b[2J" in err
    assert "\x1b" not in err


def test_visible():
    assert visible("ä 感\n\t\x07\u202e") == "ä 感\n\\t\\x07\\u202e"


def test_json_has_null_for_what_it_cannot_say(capsys):
    print_json({"rmse": float("inf"), "r2": float("nan"), "n": [1, -float("inf"), 0.1]}, indent=None)
    assert capsys.readouterr().out == '{"rmse": null, "r2": null, "n": [1, null, 0.1]}\n'


def test_percent():
    assert [percent(share) for share in (0, 0.12345, 1)] == ["0.0 %", "12.3 %", "100.0 %"]


def test_lines_in_a_pipe_have_no_blanks_at_their_ends(capsys):
    table = columns("name", "n")
    table.add_row("a", "1")
    out = standard_output()
    out.print(table)
    out.print(Padding(Text("b  c "), (0, 0, 1, 2)))
    out.print("d ", end="")
    lines = capsys.readouterr().out.split("\n")
    assert lines == ["name  n", "   a  1", "  b  c", "", "d "]


SHELL = """
import sys
from headwise.app.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("redirection", "encoding", "code"),
    [
        (">/dev/full", "utf-8", 2),
        (">&-", "utf-8", 0),
        ("<&- >/dev/null", "utf-8", 0),
        (">/dev/null 2>&-", "utf-8", 0),
        (">/dev/null", "ascii", 0),
        (">/dev/null", "cp1252", 0),
    ],
)
def test_standard_streams_that_are_closed_full_or_of_few_letters(tmp_path, redirection, encoding, code):
    (tmp_path / "run.py").write_text(SHELL)
    rows = "".join(f"ein Text {n},{('größer', 'kleiner')[n % 2]}\n" for n in range(20))
    (tmp_path / "texts.csv").write_text("text,label\n" + rows, encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    command = f"{shlex.quote(sys.executable)} run.py doctor texts.csv {redirection}"
    done = subprocess.run(
        command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert ("[HW604]" in done.stderr) == (code == 2)


def test_a_reader_of_tables_that_has_gone_is_told_from_an_error_that_was_found(tmp_path):
    (tmp_path / "run.py").write_text(SHELL)
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "run.py", "priors"], cwd=tmp_path, stdout=write, stderr=subprocess.PIPE
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")


def test_json_in_the_letters_that_there_are(monkeypatch):
    for encoding, shown in (("utf-8", "é \U0001f600"), ("cp1252", "\\u00e9 \\ud83d\\ude00")):
        out = io.TextIOWrapper(io.BytesIO(), encoding)
        monkeypatch.setattr("sys.stdout", out)
        print_json({"label": "é \U0001f600"})
        out.flush()
        assert shown in out.buffer.getvalue().decode(encoding)


@pytest.fixture
def on_terminal(monkeypatch):
    """What a terminal gets."""
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, color_system=None, width=100)
    monkeypatch.setattr(console_module, "messages", lambda: console)
    monkeypatch.setattr(console_module, "_is_terminal", lambda: True)
    return file.getvalue


def test_a_step_that_takes_long_is_named_on_a_terminal_with_messages_above_it(on_terminal):
    with working("reading a.csv"):
        note("line 1 is a header")
        before, _, after = on_terminal().partition("- line 1 is a header\n")
        assert "reading a.csv" in before
        assert "\x1b[?25l" in after  # the status line is there again, and the cursor is hidden
    with pytest.raises(ZeroDivisionError), working("reading b.csv"):
        raise ZeroDivisionError
    note("done")
    assert on_terminal().endswith("- done\n")


@pytest.mark.parametrize("colours", [None, "1"])
def test_a_step_that_takes_long_leaves_nothing_in_a_log(capsys, monkeypatch, colours):
    if colours:
        monkeypatch.setenv("FORCE_COLOR", colours)
    with working("reading a.csv"):
        note("line 1 is a header")
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert "line 1 is a header" in lines[0]


def test_a_log_has_a_line_per_step_and_minute_of_long_work(capsys, monkeypatch):
    monkeypatch.setattr(console_module, "SILENCE", 0.02)
    with working("reading a.csv") as begin:
        lines = lines_of_log(capsys, 3)
        begin("predicting")
        later = lines_of_log(capsys, 2)
    assert lines[:3] == ["reading a.csv ...", *["reading a.csv: 1 minute so far"] * 2]
    assert "predicting ..." in later
    time.sleep(0.05)
    capsys.readouterr()
    time.sleep(0.05)
    assert capsys.readouterr().err == ""


def test_steps_of_short_work_leave_nothing_in_a_log(capsys):
    with working("reading a.csv") as begin:
        begin("predicting")
    assert capsys.readouterr().err == ""


def lines_of_log(capsys, count: int) -> list[str]:
    """The lines of standard error, once there are so many."""
    lines: list[str] = []
    until = time.monotonic() + 20
    while len(lines) < count and time.monotonic() < until:
        time.sleep(0.01)
        lines += capsys.readouterr().err.splitlines()
    return lines
