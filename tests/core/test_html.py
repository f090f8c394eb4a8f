"""Templates escape what they are given."""

import re
from importlib.resources import files

import pytest

from headwise.core.html import Cell, Section, Table, isolated, render

TEMPLATES = {item.name: item.read_text() for item in files("headwise.core").joinpath("templates").iterdir()}
EVIL = "\"'><script>alert(1)</script>&\x00\ud800"


def test_all_values_are_escaped_and_none_is_kept_that_no_page_can_hold():
    cells = [EVIL, Cell(EVIL, note=EVIL), Cell(EVIL, tone="for", strength=0.5)]
    section = Section(
        tables=[Table([EVIL], [cells])],
        columns={EVIL: Table([EVIL], [[isolated(EVIL)]])},
        notes=[EVIL],
        facts=Table(["", ""], [[EVIL, EVIL]]),
        details={EVIL: EVIL},
    )
    page = render("report.html.jinja", title=EVIL, summary=EVIL, sections={EVIL: section})
    assert page.count("<script") == 1  # that of the report
    assert page.count("&lt;script&gt;") >= 15
    assert "\x00" not in page
    page.encode()


@pytest.mark.parametrize("name", TEMPLATES)
def test_only_explanations_are_html_already(name):
    assert TEMPLATES[name].count("|safe") == (name == "mistakes.html.jinja")
    assert "autoescape" not in TEMPLATES[name]
    assert not re.search("https?:", TEMPLATES[name].replace("http://www.w3.org/2000/svg", ""))
