import pytest

from headwise.data.columns.reading_options import ReadOptions
from headwise.data.files.file_source import DataSource
from headwise.data.formats.table_header import has_header
from headwise.data.formats.table_rows import records_from_rows


def records(*rows, report=None, **options):
    source = DataSource("a.csv", ReadOptions(**options))
    if report is not None:
        source.report = report.append
    return list(records_from_rows(iter(list(enumerate(map(list, rows), start=1))), source))


WORDS = "this film is far too long"


@pytest.mark.parametrize(
    ("rows", "header"),
    [
        ([("text", "label"), ("a", "b")], True),
        ([("text", "label")], True),
        ([(" Review Text ", "n"), ("a", "b")], True),
        ([("id", "kind"), ("17", "a"), ("18", "b")], True),
        ([("kind", "what"), ("pos", WORDS), ("neg", WORDS + " really")], True),
        ([("pos", WORDS), ("neg", WORDS)], False),
        ([("pos", "good"), ("neg", WORDS), ("pos", WORDS)], False),
        ([("1", "good"), ("0", "bad")], False),
        ([("0", "9", WORDS), ("1", "7", WORDS)], False),
        ([("text", "a"), ("text", "b")], False),
        ([("a", "b")], False),
        ([("Nr", "Was", ""), ("17", "a", ""), ("", "b", ""), ("", "", "")], True),
        ([("How satisfied are you with us?", "Why is that so?"), ("9", WORDS), ("3", WORDS + " x")], True),
        ([("Datum", "Kategorie"), ("1.1.2024", "a"), ("", "")], True),
    ],
)
def test_headers_are_recognised(rows, header):
    assert has_header(rows, ReadOptions()) is header


def test_a_column_asked_for_by_name_means_a_header():
    rows = [("a", "b"), ("c", "d")]
    assert not has_header(rows, ReadOptions(text_column="1"))
    assert has_header(rows, ReadOptions(text_column="a"))


def test_columns_have_names_or_numbers():
    assert records(("text ", ""), ("a", "b"))[0].fields == {"text": "a", "2": "b"}
    assert records(("x", "y"), ("a", "b"), header=False)[0].fields == {"1": "x", "2": "y"}
    assert records(("x", "y"), ("a", "b"), header=True)[0].fields == {"x": "a", "y": "b"}


def test_ragged_rows_are_located(fails):
    rows = [("text", "label"), ("a", "b"), ("a",), ("a", "b", "c")]
    assert fails(records, *rows) == ("HW110", 3, None)
    problems = []
    assert len(records(*rows, report=problems)) == 1
    assert [problem.line for problem in problems] == [3, 4]
    assert "3 fields; expected 2 as in line 1" in str(problems[1])


def test_headers_that_cannot_be_used(fails):
    assert fails(records, ("text", "label", " text"), ("a", "b", "c")) == ("HW112", 1, None)
    assert fails(records, ("text", "label")) == ("HW113", 1, None)
    assert records() == []
