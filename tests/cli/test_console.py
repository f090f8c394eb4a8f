import pytest

from headwise.cli.console import fail, note, percent, visible, warn


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


def test_percent():
    assert [percent(share) for share in (0, 0.12345, 1)] == ["0.0 %", "12.3 %", "100.0 %"]
