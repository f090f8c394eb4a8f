"""Which commands are timed, and what is read of their output. Times themselves are never asserted."""

import sys
from subprocess import CompletedProcess

from benchmarks.speed import train_commands


def test_the_sources_take_turns_and_the_first_round_is_not_counted(monkeypatch, capsys, tmp_path):
    trees = []

    def train(tree, arguments):
        trees.append(tree.name)
        return float(len(trees)), "86.0"

    monkeypatch.setattr(train_commands, "run", train)
    monkeypatch.setattr(
        sys, "argv", ["train_commands", "--against", str(tmp_path), "--data", "helpdesk", "--rounds", "3"]
    )
    train_commands.main()
    assert trees == [train_commands.ROOT.name, tmp_path.name] * 4
    lines = capsys.readouterr().out.splitlines()
    assert lines[2:] == [
        "| helpdesk | this | 5.00 | 0.83 | 86.0 |",
        "| helpdesk | other | 6.00 | 1.00 | 86.0 |",
    ]


def test_the_accuracy_is_read(monkeypatch, tmp_path):
    done = CompletedProcess([], 0, "Trained: accuracy 84.5 %.\n  accuracy   86.0 %   83.4 %\n", "")
    monkeypatch.setattr(train_commands.subprocess, "run", lambda *_, **__: done)
    assert train_commands.run(tmp_path, [])[1] == "86.0"
