import pytest

from headwise.data.columns.file_source import DataSource
from headwise.data.columns.reading_options import ReadOptions
from headwise.data.formats.table_header import has_type_rows
from headwise.data.formats.table_rows import records_from_rows

NAMES, KINDS = ["Category", "Text"], ["d", "string"]


@pytest.mark.parametrize(
    ("rows", "has_types"),
    [
        ([NAMES, KINDS, ["class", ""]], True),
        ([NAMES, KINDS, ["", ""]], True),
        ([NAMES, ["discrete", "string"], ["class", "meta include=True title=True"]], True),
        ([NAMES, ["c", "s"], ["class", "meta"]], True),
        ([NAMES, ["c", "s"], ["", ""]], False),
        ([NAMES, ["d", "strings"], ["class", ""]], False),
        ([NAMES, KINDS, ["class", "a text"]], False),
        ([NAMES, KINDS, ["class", "="]], False),
        ([NAMES, KINDS], False),
        ([NAMES, KINDS, ["class"]], False),
        ([["Text"], ["string"], [""]], False),
    ],
)
def test_rows_of_kinds_and_roles(rows, has_types):
    assert has_type_rows(rows) is has_types


def test_they_are_no_data():
    rows = [NAMES, KINDS, ["class", ""], ["news", "it rains"], ["ads", "buy it"]]
    source = DataSource("a.tab", ReadOptions())
    records = list(records_from_rows(iter(list(enumerate(rows, start=1))), source))
    assert [(record.line, record.fields) for record in records] == [
        (4, {"Category": "news", "Text": "it rains"}),
        (5, {"Category": "ads", "Text": "buy it"}),
    ]
    assert source.notes == [
        "line 1 is a header - override with --no-header",
        "lines 2 and 3 are no data: Orange's kinds and roles of the columns",
    ]


def test_without_a_header_they_are_rows_like_others():
    source = DataSource("a.tab", ReadOptions(header=False))
    rows = [NAMES, KINDS, ["class", ""]]
    assert len(list(records_from_rows(iter(list(enumerate(rows, start=1))), source))) == 3


def test_nothing_below_them():
    rows = iter(list(enumerate([NAMES, KINDS, ["class", ""]], start=1)))
    source = DataSource("a.tab", ReadOptions())
    assert list(records_from_rows(rows, source)) == []
    assert source.layout.empty_header == tuple(NAMES)
