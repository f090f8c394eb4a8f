"""The example runs, and does what docs/python.md says."""

import runpy
from pathlib import Path

from headwise.app.cli import main

EXAMPLE = Path(__file__).parents[2] / "examples" / "python_api.py"


def test_python_api(tmp_path, capsys):
    runpy.run_path(str(EXAMPLE))["main"](tmp_path, 1)
    out = capsys.readouterr().out
    assert "95 % interval" in out
    assert "ahead of TF-IDF + linear SVM by" in out
    assert (tmp_path / "heads.svg").read_text(encoding="utf-8").startswith("<svg")
    (tmp_path / "new.txt").write_text("My badge does not open the door\n", encoding="utf-8")
    assert main(["predict", str(tmp_path / "model"), str(tmp_path / "new.txt")]) == 0
