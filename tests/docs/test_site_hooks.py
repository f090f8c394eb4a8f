"""Pages of the site that are filled from the code."""

import runpy
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace
from typing import Literal

import pytest

from headwise.app.cli.flags import SECTION_HEADINGS
from headwise.training.settings import TrainConfig

pytest.importorskip("mkdocs", reason="mkdocs is not installed")
HOOKS = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "site_hooks.py"))


def test_all_settings_are_in_tables():
    page = HOOKS["settings"]()
    assert page.count("\n|---|---|---|---|\n") == len(SECTION_HEADINGS)
    for field in fields(TrainConfig):
        assert f"| `--{field.name.replace('_', '-')}` |" in page
    rows = [line for line in page.splitlines() if line.startswith("| `--")]
    assert len(rows) > 150
    for row in rows:
        assert row.replace("\\\\|", "").count(" | ") >= 3, row
        assert row.rstrip("| ").rpartition(" | ")[2], row  # each has a meaning
    assert "| `--encoder.layers` | whole number |" in page


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (int | None, "whole number"),
        (Literal["a", "b"], "`a`, `b`"),
        (tuple[str, ...], "list of text"),
        (float | Literal["auto"], "number or `auto`"),
    ],
)
def test_names_of_types(kind, name):
    assert HOOKS["type_name"](kind) == name


@pytest.mark.parametrize("name", ["a.md", "evidence/a.md"])
def test_links_out_of_docs_become_names_at_every_depth(name):
    page = SimpleNamespace(file=SimpleNamespace(src_uri=name))
    up = "../" * (name.count("/") + 1)
    text = f"[rooms]({up}CONTRIBUTING.md#adding-things) [model]({up}examples/demo.py) [f](b.md#c)"
    assert HOOKS["on_page_markdown"](text, page=page) == "rooms model [f](b.md#c)"


def test_a_page_says_where_its_samples_are():
    page = SimpleNamespace(file=SimpleNamespace(src_uri="how-to/a.md"))
    shown = HOOKS["on_page_markdown"]("# A\n\nUse travel.conll, helpdesk.tsv, helpdesk.tsv.\n", page=page)
    note = "*`helpdesk.tsv`, `travel.conll` come with headwise: [copy the samples](../README.md#samples).*"
    assert shown == f"# A\n\n{note}\n\nUse travel.conll, helpdesk.tsv, helpdesk.tsv.\n"
    assert HOOKS["on_page_markdown"]("# A\n\nNone.", page=page) == "# A\n\nNone."


def test_pictures_of_the_repository_are_copied_and_other_links_become_names():
    page = SimpleNamespace(file=SimpleNamespace(src_uri="evidence/a.md"))
    text = "![b](../../benchmarks/c/d.svg) [code](../../src/e.py) [f](../papers.md)"
    shown = HOOKS["on_page_markdown"](text, page=page)
    assert shown == "![b](../images/d.svg) code [f](../papers.md)"
