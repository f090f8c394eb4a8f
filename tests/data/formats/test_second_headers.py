"""A row below the header that says again what the columns hold."""

import pytest

from headwise.data.columns.file_source import DataSource
from headwise.data.columns.reading_options import ReadOptions
from headwise.data.formats.table_rows import records_from_rows

HEADER = ["text", "label", "length"]
ROWS = [[f"it came late, number {n}", ("good", "bad")[n % 2], str(20 + n)] for n in range(6)]


def read(*rows):
    source = DataSource("a.csv", ReadOptions())
    return [*records_from_rows(iter([*enumerate(rows, start=1)]), source)], source.notes


@pytest.mark.parametrize(
    "second",
    [
        ["string", "category", "int64"],
        ["(free text)", "class", ""],
        ["Nachricht", "Klasse", ""],
        ["what the customer wrote", "our answer", "in characters"],
        ["", "see sheet 'labels'", "characters"],
    ],
)
def test_a_second_header_is_no_row(second):
    records, notes = read(HEADER, second, *ROWS)
    assert [record.line for record in records] == [*range(3, 9)]
    assert "line 2 is no data: a second header" in notes


@pytest.mark.parametrize(
    "first",
    [
        ["it is fine", "good", "unknown"],  # a label that recurs
        ["it is fine", "neutral", "n/a"],  # a missing value
        ["it is fine", "neutral", "31"],
        ["fine", "neutral", "not measured yet, 3 days"],
        ["words", "good", "number"],
    ],
)
def test_a_first_row_of_data_is_a_row(first):
    records, notes = read(HEADER, first, *ROWS)
    assert [record.line for record in records] == [*range(2, 9)]
    assert not any("second header" in note for note in notes)


def test_labels_that_are_kinds_of_words_are_data():
    rows = [["number", "category"], ["date", "time"], ["number", "time"], ["date", "category"]]
    records, _ = read(["text", "label"], *rows)
    assert len(records) == 4
