"""docs/architecture.md names code that is there."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "headwise"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
NAMED = sorted({*re.findall(r"`([\w/]+\.py):([\w.]+)`", PAGE)})
FILES = sorted({*re.findall(r"`((?:[\w]+/)+[\w]+\.(?:py|cpp|pyi))(?::[\w.]+)?`", PAGE)})


@cache
def defined_names(file: Path) -> frozenset[str]:
    """Functions, classes and their methods, as `name` or `Class.name`."""
    names = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names.add(node.name)
        for member in node.body if isinstance(node, ast.ClassDef) else ():
            if isinstance(member, ast.FunctionDef):
                names.add(f"{node.name}.{member.name}")
    return frozenset(names)


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_a_name_is_defined_in_its_file(file, name):
    assert name in defined_names(SOURCE / file)


def test_all_files_are_there():
    roots = SOURCE, ROOT
    assert len(FILES) > 40
    assert [file for file in FILES if not any((root / file).is_file() for root in roots)] == []
    assert len(NAMED) > 25
