"""Texts and their parses."""

import pytest

from headwise.data.columns.text_columns import Columns
from headwise.data.errors import DataError
from headwise.data.items.dataset import Dataset
from headwise.data.items.examples import Example
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.items.parses import ParseReader, with_parses

PARSES = [[0], [2, 0], [0, 1, 1]]


def heads(texts, skipped=0):
    data = Dataset(texts, "texts.tsv", "tsv", Columns("text"), skipped=skipped)
    reader = ParseReader(str.split, lambda path, words: PARSES)
    return [
        example.parse
        for example in with_parses(ITEM_TYPES_BY_TASK["classify"], data, "heads", reader).items
    ]


def test_a_parse_for_each_text():
    texts = [Example("a", "x", 1), Example("a b", "y", 3), Example("a b c", "x", 4)]
    assert heads(texts) == PARSES


def test_by_line_where_texts_were_left_out():
    texts = [Example("a", "x", 1), Example("a b c", "x", 3)]
    assert heads(texts, skipped=1) == [PARSES[0], PARSES[2]]
    with pytest.raises(DataError, match="3 parses for the 2 texts"):
        heads(texts)


@pytest.mark.parametrize("lines", [(1, 4), (1, 1), (0, 1)])
def test_other_numbers_are_an_error(lines):
    with pytest.raises(DataError, match=r"3 parses for the 2 texts of texts.tsv"):
        heads([Example("a", "x", line) for line in lines], skipped=1)
