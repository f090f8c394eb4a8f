"""The compiled reader of quoted fields agrees with the reader in Python, or leaves the line to it."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from headwise.core import native
from headwise.data.errors import DataError
from headwise.data.formats.csv_records import Dialect, _Record

LINES = st.text(alphabet='"",; \r\tab\u00e9\u4e00\U0001f600', max_size=20)


def fields_in_python(line: str, delimiter: str) -> list[str] | None:
    try:
        return _Record(1, line, iter(()), Dialect(delimiter), "file").fields()
    except DataError:
        return None


@settings(max_examples=2000, deadline=None)
@given(LINES, st.sampled_from(",;\t \0"))
@example('"a ""b"", c",d\r', ",")
@example('"\u4e00""",a', ",")
@example("a,", ",")
@example("", ",")
def test_fields_are_those_of_the_reader_in_python(line, delimiter):
    cells = native.quoted_cells(line, delimiter)
    assert cells is None or cells == fields_in_python(line, delimiter)


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        ('"a ""b"", c",d\r', ['a "b", c', "d"]),
        ('x,"",', ["x", "", ""]),
        ('5" tall,"\u00e9"', ['5" tall', "\u00e9"]),
        ('"\u4e00 ""x"""', ['\u4e00 "x"']),
    ],
)
def test_plain_quotes_are_read(line, cells):
    assert native.quoted_cells(line, ",") == cells


@pytest.mark.parametrize("line", ['"open', '"a"b,c', 'x, "a"', '"a" ,b', ",".join(["x"] * 2000) + ',"a"'])
def test_everything_else_is_left_to_python(line):
    assert native.quoted_cells(line, ",") is None


def test_a_delimiter_is_one_character():
    with pytest.raises(ValueError, match="one character"):
        native.quoted_cells("a", "ab")
