import csv
import io

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from headwise.core.errors import ConfigError
from headwise.data.columns.file_source import DataSource
from headwise.data.columns.reading_options import ReadOptions
from headwise.data.errors import DataError
from headwise.data.formats.csv import guess_delimiter, read_cells, recognise
from headwise.data.readers.labelled_files import read_examples, read_rows


def lines(text):
    """As read_lines gives them: returns stay."""
    return iter(list(enumerate(text.removesuffix("\n").split("\n"), start=1)))


def cells(text, delimiter=",", report=None):
    source = DataSource("a.csv", ReadOptions(delimiter=delimiter))
    if report is not None:
        source.report = report.append
    return list(read_cells(lines(text), source))


def test_quoted_fields():
    text = 'a,"b, c",d\n"say ""hi""",,""\nx"y",5" disk,z\n'
    assert cells(text) == [
        (1, ["a", "b, c", "d"]),
        (2, ['say "hi"', "", ""]),
        (3, ['x"y"', '5" disk', "z"]),
    ]


def test_a_record_has_the_line_on_which_it_starts():
    text = 'a,"one\ntwo\r\n\nfour"\nb,c\n\n"d\n",e\r\n'
    assert cells(text) == [(1, ["a", "one\ntwo\r\n\nfour"]), (5, ["b", "c"]), (7, ["d\n", "e"])]


def test_a_first_line_for_excel_says_the_delimiter():
    assert cells("sep=;\r\na,b;c\r\n", None) == [(2, ["a,b", "c"])]
    assert cells("sep=;\na,b;c\n", ",") == [(2, ["a", "b;c"])]


def test_windows_line_ends():
    assert cells('a,b\r\n"c",d\r\ne,"f"\r\n') == [(1, ["a", "b"]), (2, ["c", "d"]), (3, ["e", "f"])]


def test_an_unclosed_quote_is_located_where_it_opens(fails):
    assert fails(cells, 'a,b\nc,"d\ne,f\n') == ("HW114", 2, 3)
    assert fails(cells, '"a"",b\n') == ("HW114", 1, 1)


def test_text_after_a_closing_quote_is_located(fails):
    assert fails(cells, 'a,b\n"c\nd" e,f\n') == ("HW114", 3, 3)


def test_reading_goes_on_after_a_reported_record():
    problems = []
    assert cells('"a" b,c\nd,e\n', report=problems) == [(2, ["d", "e"])]
    assert [problem.code for problem in problems] == ["HW114"]


def test_an_open_quote_does_not_eat_memory_without_end(monkeypatch, fails):
    monkeypatch.setattr("headwise.data.formats.csv_records.LONGEST_FIELD", 100)
    assert fails(cells, '"a\n' + "b" * 60 + "\n" + "c" * 60 + '\nd"\n') == ("HW114", 1, 1)


def test_fields_beyond_the_limit_of_the_csv_module():
    assert len(cells('"' + "x" * 1_000_000 + '",b')[0][1][0]) == 1_000_000


@pytest.mark.parametrize("delimiter", ",;\t|")
def test_the_delimiter_is_guessed(delimiter):
    rows = ["text|label", "well, good; very\tgood|pos", "bad, bad|neg", "so; so|neg"]
    rows = [delimiter.join(f'"{cell}"' for cell in row.split("|")) for row in rows]
    assert guess_delimiter(list(lines("\n".join(rows)))) == delimiter


def test_commas_in_text_do_not_hide_a_semicolon():
    assert guess_delimiter(list(lines("text;label\na, b, c;pos\nd, e;neg\nf;neg"))) == ";"


def test_a_delimiter_of_two_characters():
    assert cells("a\tb", "\\t") == [(1, ["a", "b"])]
    for wrong in ("::", '"', "\n"):
        with pytest.raises(ConfigError, match="delimiter"):
            cells("a", wrong)


CELL = st.text(st.characters(codec="utf-8", exclude_characters="\0")) | st.sampled_from(
    ['"', '""', "a\r\nb", "a\nb\x85c\u2028", "😀, ok", '"quoted"', " ", "\r"]
)


RAGGED = st.lists(st.lists(CELL, min_size=2, max_size=4), min_size=1)
TABLE = st.integers(2, 4).flatmap(lambda n: st.lists(st.lists(CELL, min_size=n, max_size=n), min_size=1))


# Where rows differ in length, a tab between marks may also stand in a file whose marks enclose nothing.
@given(
    st.tuples(RAGGED, st.sampled_from(",;")) | st.tuples(TABLE, st.sampled_from(",;\t|")),
)
@example(([["", ""], ["", ""], ["", "\n", ""]], "\t"))
@settings(max_examples=150, deadline=None)
def test_what_pythons_writer_writes_is_read_back(written):
    rows, delimiter = written
    buffer = io.StringIO(newline="")
    csv.writer(buffer, delimiter=delimiter).writerows(rows)
    assert [row for _, row in cells(buffer.getvalue(), delimiter)] == rows


@given(st.lists(st.text('ab",\n', max_size=12), min_size=1, max_size=6).map("\n".join))
@settings(max_examples=200, deadline=None)
def test_whatever_pythons_strict_reader_accepts_is_read_alike(text):
    try:
        expected = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    except csv.Error:
        return
    assert [row for _, row in cells(text) if row] == expected


def test_files_put_together_have_marks_and_headers_again(write):
    part = '\ufeff"text","label"\n' + "".join(f'"a text of number {n}","{"xy"[n % 2]}"\n' for n in range(9))
    data = read_examples(write("a.csv", part * 2))
    assert (len(data.items), {*data.labels}) == (18, {"x", "y"})
    assert "rows that repeat the header left out: 1 (line 11)" in data.notes


@pytest.mark.parametrize("head", ["| text | label |\n|:--|---|", " text | label\n------+-------"])
def test_the_rule_below_a_header_is_no_row(write, head):
    edge = "|" if head.startswith("|") else ""
    rows = "".join(f"{edge} a text of number {n} | {'xy'[n % 2]} {edge}\n" for n in range(9))
    data = read_examples(write("a.txt", f"{head}\n{rows}"))
    assert (len(data.items), {*data.labels}) == (9, {"x", "y"})
    assert "line 2 is no data: a rule below the header" in data.notes


def test_a_header_with_fewer_names_than_columns_is_named(write):
    rows = "".join(f"{n % 5},a text of number {n},{'xy'[n % 2]}\n" for n in range(9))
    with pytest.raises(DataError, match="all rows have 3: write a name for each column"):
        read_examples(write("a.csv", "text,label\n" + rows))


@pytest.mark.parametrize("row", ["{n},a text of {n},{label}", "a text of {n},{label},"])
def test_a_header_without_a_name_for_row_numbers_or_for_an_empty_last_column(write, row):
    """As R writes row names, and where each row ends with a delimiter."""
    rows = "".join(row.format(n=n + 1, label="xy"[n % 2]) + "\n" for n in range(9))
    data = read_examples(write("a.csv", "text,label\n" + rows))
    assert (data.items[1].text, data.items[1].label) == ("a text of 2", "y")
    assert any("the header has no name" in note for note in data.notes)


def test_a_comma_in_each_text_is_no_column_without_a_name(write):
    rows = "".join(f"text {n}, and more,{'xy'[n % 2]}\n" for n in range(9))
    with pytest.raises(DataError, match="HW110"):
        read_examples(write("a.csv", "text,label\n" + rows))


def test_names_above_dates_and_links_are_a_header(write):
    form = "".join(f"2024/05/01 10:00:0{n} AM GMT+2,a text of number {n},{'xy'[n % 2]}\n" for n in range(9))
    data = read_examples(write("a.csv", "Timestamp,What is your feedback?,Kind of it\n" + form))
    assert (len(data.items), {*data.labels}) == (9, {"x", "y"})
    assert len(read_examples(write("b.csv", form)).items) == 9


ROWS = "".join(f"a text of number {n},{'xy'[n % 2]}\n" for n in range(20))


@pytest.mark.parametrize(
    "text",
    [
        "# made by me\n# in two lines\ntext,label\n" + ROWS,
        "Survey of 2024,\n,\ntext,label\n" + ROWS,
        '"sep=,"\ntext,label\n' + ROWS,
        "text,label\n" + ROWS.replace("\n", ",\n"),
        "text,label\n" + "".join(f"{n},{row}\n" for n, row in enumerate(ROWS.splitlines())),
        "text,label\n" + ROWS.replace(",", ", well,"),
    ],
)
def test_a_pipe_is_read_as_the_file_is(write, text):
    """The suffix of a file decides nothing but the format that its first lines have, too."""
    assert recognise([line for line in text.split("\n") if line.strip()])


@pytest.mark.parametrize("first", ["well, hello there", "Survey of 2024", "# made by me", "a, b, c"])
def test_texts_with_commas_are_no_table(first):
    assert not recognise([first, "I am here, as you see", "no, not now", "so it is", "label it, please"])


def test_the_sign_at_the_end_of_a_file_of_dos(write):
    path = write("a.csv", "text,label\r\na door,x\r\na roof,y\r\n\x1a")
    assert [item.text for item in read_examples(path).items] == ["a door", "a roof"]


@pytest.mark.parametrize("total", ["Total\t20", "20\tTotal"])
def test_totals_below_labels_and_texts(write, fails, total):
    rows = "".join(f"{n % 2}\tthe door is shut {n}\n" for n in range(20))
    path = write("a.txt", f"{rows}{total}\n")
    assert fails(read_examples, path) == ("HW129", 21, None)
    assert len([*read_rows(path)]) == 21  # each text to predict gets an answer


@pytest.mark.parametrize("total", ["20,Total,20", ",Summe:,20", "Grand total,,", "total,it is shut,20"])
def test_totals_below_the_rows_are_no_text(write, total):
    rows = "".join(f"{n},the door is shut {n},{'xy'[n % 2]}\n" for n in range(20))
    with pytest.raises(DataError, match="a row of totals") as error:
        read_examples(write("a.csv", f"id,text,label\n{rows}{total}\n"))
    assert error.value.line == 22
    stars = "".join(f"it is late {n},{n % 2}\n" for n in range(20))
    with pytest.raises(DataError, match="a row of totals"):
        read_examples(write("b.csv", f"text,stars\n{stars}Total,20\n,\n"))
    for row in ("20,Total,x", "20,the total is 20,x"):
        assert len(read_examples(write("c.csv", f"id,text,label\n{rows}{row}\n")).items) == 21


def test_empty_cells_behind_the_last_column_are_left_out(write, fails):
    rows = [f"the door is shut {n},{'xy'[n % 2]}{',,' * (n % 3 == 0)}\n" for n in range(20)]
    data = read_examples(write("a.csv", f"text,label\n{''.join(rows)}"))
    assert [item.label for item in data.items] == ["x", "y"] * 10
    assert "empty cells behind the last column are left out" in data.notes
    path = write("b.csv", f"text,label\n{''.join(rows)}shut, or not,x\n")  # a comma of the text
    assert fails(read_examples, path) == ("HW110", 22, None)


@pytest.mark.parametrize("end", [",", ",,"])
def test_a_comma_of_a_text_is_not_hidden_by_empty_cells(write, fails, end):
    rows = [f"{'xy'[n % 2]},the door{',' * (n % 4 == 0)} is shut {n}{end}\n" for n in range(20)]
    path = write("a.csv", f"label,text,notes{end[1:]}\n{''.join(rows)}")
    assert fails(read_examples, path)[:2] == ("HW110", 2)
    rows = [f"the door{',' * (n % 4 == 0)} is shut {n},{'xy'[n % 2] * (n % 4 > 0)}\n" for n in range(20)]
    assert fails(read_examples, write("b.csv", f"text,label\n{''.join(rows)}"))[:2] == ("HW110", 2)


def test_a_delimiter_at_the_end_of_the_header_alone_or_of_some_rows(write):
    rows = [f"the door is shut {n},{'xy'[n % 2]}{',' * (n % 3 == 0)}\n" for n in range(20)]
    for path in (
        write("a.csv", f"text,label,\n{''.join(rows)}"),
        write("b.csv", f"text,label,\n{rows[0] * 12}"),
    ):
        assert {*read_examples(path).labels} <= {"x", "y"}


@pytest.mark.parametrize("remark", [",,60 rows", "Total,,60", ",,"])
def test_a_remark_below_an_empty_row(write, remark):
    rows = "".join(f"{n},the door is shut {n},{'xy'[n % 2]}\n" for n in range(20))
    path = write("a.csv", f"id,text,label\n{rows},,\n{remark}\n")
    if remark == ",,":
        assert len(read_examples(path).items) == 20
        return
    with pytest.raises(DataError, match="a second table, or totals") as error:
        read_examples(path)
    assert error.value.line == 23
    assert (
        len(read_examples(write("b.csv", f"id,text,label\n{rows},,\n9,more,\n"), on_error=print).items)
        == 20
    )
