import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.data.columns.file_source import DataSource
from headwise.data.columns.reading_options import ReadOptions
from headwise.data.errors import DataError
from headwise.data.formats.tsv import read_cells, unquoted
from headwise.data.readers.labelled_files import read_examples


def cells(text):
    lines = enumerate(text.removesuffix("\n").split("\n"), start=1)
    return list(read_cells(lines, DataSource("a.tsv")))


def test_a_stray_quote_does_not_swallow_the_next_lines():
    text = '1\t"great\n0\tsay "no" twice"\n1\t"a" and "b"\n'
    assert cells(text) == [
        (1, ["1", '"great']),
        (2, ["0", 'say "no" twice"']),
        (3, ["1", '"a" and "b"']),
    ]


def test_properly_quoted_fields_are_unquoted():
    assert unquoted('"say ""hi"""') == 'say "hi"'
    assert unquoted('"great"') == "great"
    assert unquoted('""') == ""
    for raw in ('"', '"a', 'a"', '"a"b"', '"""', 'a"b'):
        assert unquoted(raw) == raw


def test_blank_lines_windows_line_ends_and_empty_fields():
    assert cells("a\tb\r\n\r\n\n\t\r\n0\t \n") == [
        (1, ["a", "b"]),
        (4, ["", ""]),
        (5, ["0", " "]),
    ]


CELL = st.text(st.characters(codec="utf-8", exclude_characters="\0\t\r\n")) | st.sampled_from(
    ['"', '""', '"great', 'say "hi"', "a\x85b\u2028c", "😀"]
)


@given(st.lists(st.lists(CELL, min_size=2, max_size=4), min_size=1))
@settings(max_examples=150, deadline=None)
def test_what_pandas_and_spreadsheets_write_is_read_back(rows):
    buffer = io.StringIO(newline="")
    csv.writer(buffer, dialect="excel-tab").writerows(rows)
    assert [row for _, row in cells(buffer.getvalue())] == rows


def test_quoted_line_ends_are_told_how_to_be_read(write):
    path = write("a.tsv", "text\tlabel\n" + '"a text\nof two lines"\tx\nanother\ty\n' * 9)
    with pytest.raises(DataError, match=r"HW110.*give --quoting double"):
        read_examples(path)
    assert len(read_examples(path, options=ReadOptions(quoting="double")).items) == 18


def test_single_marks_enclose_fields_where_nearly_every_row_has_them(write):
    rows = "".join(f"'it''s a text {n}'\t'{'ab'[n % 2]}'\n" for n in range(8))
    data = read_examples(write("a.tsv", f"'text'\t'label'\n{rows}"))
    assert (data.items[0].text, data.items[0].label) == ("it's a text 0", "a")
    assert any("--quoting none" in note for note in data.notes)
    few = read_examples(write("b.tsv", "text\tlabel\n'tis one\ta\n'so'\tb\nno\ta\nyes\tb\n"))
    assert [item.text for item in few.items][:2] == ["'tis one", "'so'"]
