"""What is timed, and in which order. Times themselves are never asserted."""

from pathlib import Path

import pytest

from benchmarks.speed import cold_start


def test_the_sources_take_turns_and_the_first_round_is_not_counted(monkeypatch, capsys, tmp_path):
    calls = []

    def seconds(arguments, tree):
        calls.append((arguments[-1], tree.name))
        return float(len(calls))

    monkeypatch.setattr(cold_start, "cpu_seconds", seconds)
    monkeypatch.setattr(cold_start, "libraries", lambda: {"Python": ["-c", "pass"]})
    monkeypatch.setattr(cold_start, "commands", lambda model, text: {"predict": ["predict", model, text]})
    cold_start.main(["model", "--against", str(tmp_path), "--rounds", "3"])
    trees = [cold_start.ROOT.name, tmp_path.name]
    assert [tree for _, tree in calls] == trees * 2 * 4
    assert [Path(last).name for last, _ in calls[:4]] == ["pass", "pass", "one.txt", "one.txt"]
    assert capsys.readouterr().out.splitlines() == [
        "| CPU seconds | this | other |",
        "|---|---|---|",
        "| Python | 9.000 | 10.000 |",
        "| predict | 11.000 | 12.000 |",
    ]


@pytest.mark.parametrize("name", cold_start.libraries())
def test_a_new_process_is_timed(name):
    assert cold_start.cpu_seconds(cold_start.libraries()[name], cold_start.ROOT) > 0
