import pytest

from headwise.data.columns.file_source import DataSource, TableLayout
from headwise.data.columns.reading_options import ReadOptions
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


def test_columns_of_one_name_get_numbers():
    source = DataSource("a.csv", ReadOptions())
    rows = [["text", "note", " note", "", "5"], ["a", "b", "c", "d", "e"]]
    [record] = records_from_rows(iter(list(enumerate(rows, start=1))), source)
    assert record.fields == {"text": "a", "note": "b", "note_2": "c", "4": "d", "5": "e"}
    assert source.layout.headings == {"note_2": "note", "4": ""}
    assert source.layout.duplicates == {"note": "note", "note_2": "note"}


def test_a_name_that_was_made_is_never_one_of_the_file():
    source = DataSource("a.csv", ReadOptions())
    rows = [["", "text", "text_2", "1", "text"], ["a", "b", "c", "d", "e"]]
    [record] = records_from_rows(iter(list(enumerate(rows, start=1))), source)
    assert list(record.fields.values()) == ["a", "b", "c", "d", "e"]
    assert source.layout.headings == {"column 1_2": "", "text_3": "text"}


def test_a_header_without_rows():
    source = DataSource("a.csv", ReadOptions())
    assert list(records_from_rows(iter([(3, ["text", "label"])]), source)) == []
    assert (source.layout.empty_header, source.layout.header_line) == (("text", "label"), 3)
    assert records() == []


@pytest.mark.parametrize(
    "rows",
    [
        [("0", "1"), ("1", WORDS), ("0", WORDS), ("1", WORDS)],
        [("", "0", "1"), ("0", WORDS, "1"), ("1", WORDS, "0")],
        [("1", "2", "3"), ("7", WORDS, "a"), ("2", WORDS, "b")],
        [("0",), (WORDS,), (WORDS,)],
        [("text", "0", "1"), (WORDS, "0", "1"), (WORDS, "1", "0")],
    ],
)
def test_consecutive_numbers_name_the_columns(rows):
    assert len(records(*rows)) == len(rows) - 1
    assert records(*rows)[0].line == 2


@pytest.mark.parametrize(
    "rows",
    [
        [("1", WORDS), ("0", WORDS)],
        [("0", "1", WORDS), ("1", "2", WORDS)],
        [("0", "1"), ("1", "0"), ("0", "0")],
        [("1", "2", "3"), ("4", "5", "6")],
    ],
)
def test_other_numbers_are_data(rows):
    assert len(records(*rows)) == len(rows)


def test_a_header_that_comes_again_is_left_out():
    source = DataSource("a.csv", ReadOptions())
    rows = [["text", "label"], ["a", "x"], ["\ufefftext", "label "], ["b", "y"]]
    records = list(records_from_rows(iter(list(enumerate(rows, start=1))), source))
    assert [record.fields for record in records] == [
        {"text": "a", "label": "x"},
        {"text": "b", "label": "y"},
    ]
    assert source.layout.repeated == [3]


@pytest.mark.parametrize("names", [("label", "text"), ("review", "sentiment")])
def test_a_header_of_other_columns_is_an_error(fails, names):
    assert fails(records, ("text", "label"), ("a", "x"), names, ("y", "b")) == ("HW129", 3, None)


def test_a_header_that_comes_again_in_capitals_is_left_out():
    rows = [("text", "label"), ("a", "x"), ("Text", "LABEL"), ("b", "y")]
    assert [record.fields["label"] for record in records(*rows)] == ["x", "y"]


TABLE = [("text", "label")] + [(f"{WORDS} {n}", "xy"[n % 2]) for n in range(12)]


def with_gap(*below):
    """The rows of a table and, a blank line after it, others."""
    rows = [*enumerate(map(list, TABLE), start=1)]
    return [*rows, *enumerate(map(list, below), start=len(rows) + 2)]


@pytest.mark.parametrize(
    "below",
    [
        [("label", "count"), ("x", "6"), ("y", "6")],
        [("x", "6"), ("y", "6")],
        [("Total", "12")],
        [("", "12")],
    ],
)
def test_a_second_table_below_a_blank_line_is_an_error(below):
    problems = []
    source = DataSource("a.csv", ReadOptions(), report=problems.append)
    assert len([*records_from_rows(iter(with_gap(*below)), source)]) == 12
    assert [(problem.code, problem.line) for problem in problems] == [("HW129", 15)]
    rows = [*with_gap(*below)]
    rows.insert(-len(below), (14, [" ", ""]))  # as a workbook has it
    assert len([*records_from_rows(iter(rows), source)]) == 13
    assert len(problems) == 2


@pytest.mark.parametrize(
    "below",
    [[("one more", "x")], [("7", "x"), ("of them", "y")], [("seven", "x"), ("12", "y")], [("a", "")]],
)
def test_rows_below_a_blank_line_are_rows(below):
    source = DataSource("a.csv", ReadOptions())
    assert len([*records_from_rows(iter(with_gap(*below)), source)]) == 12 + len(below)


def test_the_number_of_rows_below_a_table_is_no_row(fails):
    source = DataSource("a.csv", ReadOptions())
    rows = [*enumerate([*map(list, TABLE), ["(12 rows)"]], start=1)]
    assert len([*records_from_rows(iter(rows), source)]) == 12
    assert "line 14 is no data: (12 rows)" in source.notes
    assert fails(records, *TABLE, ("(12 boats)",)) == ("HW110", 14, None)


def test_a_text_of_several_lines_is_no_gap():
    rows = [*enumerate(map(list, TABLE), start=1)]
    rows += [(14, ["a\nb", "x"]), (16, ["7", "5"])]
    assert len([*records_from_rows(iter(rows), DataSource("a.csv", ReadOptions()))]) == 14


SWALLOWED = [("text", "label")] + [(f"{WORDS} {n}", "xy"[n % 2]) for n in range(6)]


@pytest.mark.parametrize(
    "cells",
    [
        ("one of them,x\ntwo of them,y\nthree", "x"),
        ("one of them,x\ntwo of them", "y"),
        ("one, of them,x\ntwo,y\nthree,x\nfour,y\nfive,x\nsix", "x"),
    ],
)
def test_a_quoted_field_that_holds_rows_is_an_error(fails, cells):
    source = DataSource("a.csv", ReadOptions(), layout=TableLayout(","))
    rows = iter(list(enumerate(map(list, [*SWALLOWED, cells, ("last", "y")]), start=1)))
    assert fails(lambda: list(records_from_rows(rows, source))) == ("HW114", 8, None)


@pytest.mark.parametrize(
    "cells", [("one, two\nthree, four", "x"), ("one\ntwo", "y"), ("x,y\nx,y", "x"), ("a,x\n\nb,y", "x")]
)
def test_a_text_of_several_lines_is_none_of_them(cells):
    source = DataSource("a.csv", ReadOptions(), layout=TableLayout(","))
    rows = iter(list(enumerate(map(list, [*SWALLOWED, cells]), start=1)))
    assert list(records_from_rows(rows, source))[-1].fields == {"text": cells[0], "label": cells[1]}


def test_rows_within_quotes_can_be_meant():
    source = DataSource("a.csv", ReadOptions(quoting="double"), layout=TableLayout(","))
    rows = iter(list(enumerate(map(list, [*SWALLOWED, ("one,x\ntwo", "x")]), start=1)))
    assert len(list(records_from_rows(rows, source))) == 7


def test_texts_that_a_stray_mark_joins_in_a_single_column(fails):
    source = DataSource("a.csv", ReadOptions(), layout=TableLayout(","))
    joined = "\n".join([f"{WORDS} {n}" for n in range(6)])
    rows = [["text"], *[[f"{WORDS} {n}"] for n in range(12)], [joined]]
    assert fails(lambda: list(records_from_rows(iter(list(enumerate(rows, 1))), source)))[:2] == (
        "HW114",
        14,
    )


SHORT = [[name + str(n), "fm"[n % 2]] for n, name in enumerate(["Ann", "Bo", "Cy"] * 4)]


@pytest.mark.parametrize(
    ("first", "header"),
    [
        (["name", "gender"], True),
        (["Ann9", "f"], False),
        (["x y z w", "gender"], False),
        (["", "g"], False),
    ],
)
def test_names_above_short_texts_are_a_header(first, header):
    assert has_header([first, *SHORT], ReadOptions()) is header


def test_a_label_that_occurs_once_below_leaves_the_first_row_in_doubt():
    assert not has_header([["name", "gender"], *SHORT, ["Di", "x"]], ReadOptions())


def test_a_header_may_number_the_columns_with_decimals():
    assert has_header([["0.0", "1.0"], ["a text of words", "a"], ["one more text", "b"]], ReadOptions())


@pytest.mark.parametrize(
    ("first", "header"), [(["0", "2", "5"], True), (["", "3", "7"], True), (["0", "5", "2"], False)]
)
def test_a_header_may_number_some_of_the_columns(first, header):
    rows = [[str(n), str(n % 2), f"it is late {n}"] for n in range(10)]
    assert has_header([first, *rows], ReadOptions()) == header
    assert not has_header([first, *rows, ["10", "0", "99"]], ReadOptions())  # texts may be numbers
    assert not has_header([first, *rows[:5]], ReadOptions())


def test_a_header_of_a_script_with_marks():
    names = "\u0e02\u0e49\u0e2d\u0e04\u0e27\u0e32\u0e21", "\u0e1b\u0e23\u0e30\u0e40\u0e20\u0e17"
    rows = [(f"\u0e2b\u0e49\u0e2d\u0e07\u0e17\u0e35\u0e48{n}\u0e14\u0e35", "ab"[n % 2]) for n in range(20)]
    parsed = records(names, *rows)
    assert (len(parsed), [*parsed[0].fields]) == (20, [*names])
