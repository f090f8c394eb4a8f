"""The lines in which `headwise explain` says what a margin consists of."""

import pytest

from headwise.app.cli.explain_command import margin_lines
from headwise.models.explanation import (
    ColumnAttribution,
    Explanation,
    SurfaceAttribution,
    WordAttribution,
)


def explained(margin, rest, **more):
    words = (WordAttribution("a", 0, 1, margin - rest - sum(more.get("added", ())), {}),)
    parts = {name: value for name, value in more.items() if name != "added"}
    return Explanation(0, ("a",), "x", 0.5, margin, rest, words, **parts)


def test_the_margin_is_a_sum_of_named_terms():
    assert margin_lines(explained(3.0, -4.0)) == ["margin +3.00: words +7.00, baseline -4.00"]
    found = explained(
        3.0,
        1.0,
        added=(0.5, 0.25),
        surface_features=SurfaceAttribution("length", 0.5),
        columns=(ColumnAttribution("price", "1", 0.25),),
    )
    terms = "words +1.25, surface features +0.50, columns +0.25, baseline +1.00"
    assert margin_lines(found) == [f"margin +3.00: {terms}"]


def test_words_that_outweigh_the_baseline_are_not_called_little():
    words = tuple(WordAttribution("a", 0, 1, value, {}) for value in (2.8, -2.3))
    assert len(margin_lines(Explanation(0, ("a",), "x", 0.7, 1.3, 0.8, words))) == 1


@pytest.mark.parametrize(
    ("margin", "rest", "leans"),
    [(3.0, 1.6, True), (-3.0, -1.6, True), (3.0, 1.4, False), (3.0, -9.0, False), (-3.0, 9.0, False)],
)
def test_a_margin_that_is_mostly_baseline_is_remarked(margin, rest, leans):
    assert (len(margin_lines(explained(margin, rest))) == 2) == leans
