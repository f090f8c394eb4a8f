import gzip

import pytest

from headwise.app.cli.progress import TextProgress, count_lines


def test_count_lines(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"x\n" * 600_000 + b"y")
    assert count_lines(path) == 600_000


def test_lines_that_are_not_counted(tmp_path):
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"x\n"))
    for file in (path, tmp_path, tmp_path / "none", tmp_path / "-"):
        assert count_lines(file) is None


@pytest.mark.parametrize("terminal", [True, False])
def test_shown_on_a_terminal_only(tmp_path, monkeypatch, capsys, terminal):
    if terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")  # rich then takes any stream for a terminal
    monkeypatch.setenv("COLUMNS", "80")
    path = tmp_path / "a.txt"
    path.write_text("x\n" * 100)
    with TextProgress(path) as progress:
        progress.update(50, 50)
    out, err = capsys.readouterr()
    assert not out
    assert ("50 texts" in err) == terminal
    assert bool(err.strip()) == terminal
