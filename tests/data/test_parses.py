"""Texts and their parses."""

import pytest

from headwise.data.errors import DataError
from headwise.data.example import Example
from headwise.data.parses import with_parses

PARSES = [[0], [2, 0], [0, 1, 1]]


def test_a_parse_for_each_text():
    texts = [Example("a", "x", 1), Example("a b", "y", 3), Example("a b c", "x", 4)]
    assert [e.heads for e in with_parses(texts, PARSES, "heads", "texts")] == PARSES


def test_by_line_where_texts_were_left_out():
    texts = [Example("a", "x", 1), Example("a b c", "x", 3)]
    assert [e.heads for e in with_parses(texts, PARSES, "heads", "texts", by_line=True)] == [
        PARSES[0],
        PARSES[2],
    ]


@pytest.mark.parametrize("lines", [(1, 4), (1, 1), (0, 1)])
def test_other_numbers_are_an_error(lines):
    with pytest.raises(DataError, match=r"3 parses for the 2 texts of texts.tsv"):
        with_parses([Example("a", "x", line) for line in lines], PARSES, "heads", "texts.tsv", by_line=True)
