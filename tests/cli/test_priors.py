"""`headwise priors`: the list and the gallery."""

import re

import pytest

from headwise.cli.priors import summary
from headwise.priors import PRIORS, Window


def test_lists_every_prior_on_a_line(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    code, out, err = run("priors")
    assert (code, err) == (0, "")
    names = [line.split()[0] for line in out.splitlines()]
    assert names == [*PRIORS, "alibi"]
    assert all(len(line.split()) > 5 for line in out.splitlines())
    assert summary(Window) in out


@pytest.mark.parametrize(("name", "begin"), [("a.html", "<!DOCTYPE html>"), ("b.SVG", "<svg ")])
def test_writes_a_gallery(run, tmp_path, name, begin):
    file = tmp_path / name
    code, out, err = run("priors", "--draw", str(file))
    assert (code, out) == (0, "")
    assert str(file) in re.sub(r"\s", "", err)
    assert file.read_text(encoding="utf-8").startswith(begin)


def test_other_files_are_refused(run, tmp_path):
    file = tmp_path / "train.csv"
    file.write_text("text,label\n")
    code, out, err = run("priors", "--draw", str(file))
    assert (code, out) == (2, "")
    assert "name the file .html or .svg" in err
    assert file.read_text() == "text,label\n"
    code, _, err = run("priors", "--draw", str(tmp_path / "no" / "a.svg"))
    assert code == 2
    assert "cannot be written" in err
