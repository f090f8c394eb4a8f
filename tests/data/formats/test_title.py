import pytest

from headwise.data.columns.reading_options import ReadOptions
from headwise.data.files.file_source import DataSource
from headwise.data.formats.table_header import title_rows
from headwise.data.formats.table_rows import records_from_rows
from headwise.data.readers.labelled_files import read_examples

NAMES, ROW = ["Date", "Review", "Sentiment"], ["2024-01-01", "it came late", "bad"]
TITLE, BLANK = ["Reviews of spring", "", ""], ["", "", ""]


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ([TITLE, NAMES, ROW], 1),
        ([["Reviews of spring"], NAMES, ROW], 1),
        ([TITLE, BLANK, NAMES, ROW], 2),
        ([NAMES, ROW], 0),
        ([TITLE, ["Date", "", "Sentiment"], ROW], 0),
        ([TITLE, ["Date", "Review", "Review"], ROW], 0),
        ([["", "Reviews of spring", ""], NAMES, ROW], 1),
        ([["Report", "", ""], ["Created", "2024-01-02", ""], NAMES, ROW], 2),
        ([["Ticket", "", "Answer"], NAMES, ROW], 1),
        ([["Ticket", "", "label"], ["1", "a text", "good"], ROW], 0),
        ([["a text", ""], ["another text", "good"], ["a third text", "bad"]], 0),
        ([["text"], ["one"], ["two"]], 0),
        ([*[BLANK] * 11, NAMES, ROW], 0),
    ],
)
def test_rows_above_the_names(rows, found):
    assert title_rows(rows, ReadOptions()) == found


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (ReadOptions(header=False), 0),
        (ReadOptions(header=True), 0),
        (ReadOptions(text_column="b"), 1),
        (ReadOptions(text_column="a"), 0),
    ],
)
def test_what_is_asked_for_counts(options, found):
    assert title_rows([["a", ""], ["b", "c"], ["d", "e"]], options) == found


def test_they_are_no_data_and_are_told():
    source = DataSource("a.csv", ReadOptions())
    found = list(records_from_rows(iter(list(enumerate([TITLE, BLANK, NAMES, ROW], start=1))), source))
    assert [(own.line, own.fields["Review"]) for own in found] == [(4, "it came late")]
    assert source.notes == [
        "lines 1 to 2 are no data: a title above the table",
        "line 3 is a header - override with --no-header",
    ]


def test_padding_around_cells_of_a_ruled_table_is_no_text(write):
    text = "| text    | label |\n|---------|-------|\n| it runs | good  |\n| no      | bad   |\n"
    data = read_examples(write("a.md", text))
    assert [(item.text, item.label) for item in data.items] == [("it runs", "good"), ("no", "bad")]
