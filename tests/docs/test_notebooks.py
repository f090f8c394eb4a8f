"""The notebooks run from top to bottom, and are stored without outputs."""

import ast
import contextlib
import io
import json
import re
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))


def cells(notebook: Path, kind: str) -> list[str]:
    content = json.loads(notebook.read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in content["cells"] if cell["cell_type"] == kind]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(notebook, tmp_path, short_runs, without_base_encoder):
    names, out = {"__name__": notebook.stem}, io.StringIO()
    with short_runs(), without_base_encoder(), contextlib.chdir(tmp_path), contextlib.redirect_stdout(out):
        for number, cell in enumerate(cells(notebook, "code")):
            exec(compile(cell, f"{notebook.name}:{number}", "exec"), names)
    assert out.getvalue().strip()


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_has_a_title_valid_cells_and_no_outputs(notebook):
    content = json.loads(notebook.read_text(encoding="utf-8"))
    assert (content["nbformat"], content["nbformat_minor"]) == (4, 5)
    assert cells(notebook, "markdown")[0].startswith("# Notebook: ")
    assert all(not cell.get("outputs") for cell in content["cells"])
    identifiers = [cell["id"] for cell in content["cells"]]
    assert len(set(identifiers)) == len(identifiers)
    assert all(re.fullmatch(r"[\w-]{1,64}", identifier) for identifier in identifiers)
    for cell in cells(notebook, "code"):
        ast.parse(cell)


def test_there_are_three_notebooks():
    assert [path.stem for path in NOTEBOOKS] == ["explain", "first-classifier", "your-own-prior"]
