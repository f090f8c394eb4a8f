"""Dialects of csv: raw quotation marks, escapes, blanks before a quotation mark, a single column."""

from random import Random

import pytest

from headwise.core.errors import ConfigError
from headwise.data.columns.column_names import TEXT_NAMES
from headwise.data.columns.file_source import DataSource
from headwise.data.columns.reading_options import ReadOptions
from headwise.data.formats import FORMATS, tsv
from headwise.data.formats.csv import read_cells, recognise
from headwise.data.formats.csv_records import DELIMITERS
from headwise.data.readers.labelled_files import read_rows


def cells(text, report=None, **options):
    source = DataSource("a.csv", ReadOptions(**options))
    if report is not None:
        source.report = report.append
    lines = list(enumerate(text.removesuffix("\n").split("\n"), start=1))
    return [row for _, row in read_cells(iter(lines), source)], source.notes


def test_without_quoting_marks_are_characters():
    rows, _ = cells('a,"b\n"c",d"\n', quoting="none")
    assert rows == [["a", '"b'], ['"c"', 'd"']]
    assert cells('"a"\t"b" c\n', quoting="none", delimiter="\\t")[0] == [['"a"', '"b" c']]


RAW = ['text@label\n"Great", he said@pos\n"Awful" they said@neg\nfine@pos\n', "@", '"Great", he said']


@pytest.mark.parametrize("delimiter", ["@", "\t", "|", "^", "~", "\x01"])
def test_marks_that_enclose_nothing_are_characters(delimiter):
    text, _, first = RAW
    rows, notes = cells(text.replace("@", delimiter), delimiter=delimiter if delimiter == "@" else None)
    assert rows[1] == [first, "pos"]
    assert len(rows) == 4
    assert any("--quoting double" in note for note in notes)


def test_blank_lines_do_not_hide_single_quotation_marks():
    rows = "".join(f"'it is late, {n}'^'x'\n" for n in range(9))
    assert cells(f"'text'^'label'\n{rows}\n\n\n")[0][1] == ["it is late, 0", "x"]


def test_a_quoted_delimiter_is_not_split():
    text = 'text\tlabel\n"a\tb"\tx\n"c, d"\ty\n"e"\tx\n'
    assert cells(text)[0] == [["text", "label"], ["a\tb", "x"], ["c, d", "y"], ["e", "x"]]


def test_with_commas_a_raw_mark_is_an_error_that_says_what_to_do():
    problems = []
    rows, _ = cells('text,label\n"Great" he said,pos\n"Awful" they said,neg\nfine,pos\n', problems)
    assert rows == [["text", "label"], ["fine", "pos"]]
    assert [problem.line for problem in problems] == [2, 3]
    assert all("--quoting none" in problem.advice for problem in problems)


@pytest.mark.parametrize("delimiter", ["\t", ";", "|"])
def test_a_comma_before_a_blank_is_part_of_a_text(delimiter):
    text = "".join(f"it is late, once more{delimiter}x\n" for _ in range(5))
    assert cells(text)[0][0] == ["it is late, once more", "x"]


SINGLE = (
    "'text','label'\n'it''s fine, really','po\"s'\n'bad','neg'\r\n'two\nlines', 'neg'\n'so-so' ,'neg'\n"
)
SINGLE_ROWS = [["text", "label"], ["it's fine, really", 'po"s'], ["bad", "neg"], ["two\nlines", "neg"]]


@pytest.mark.parametrize("options", [{}, {"quoting": "single"}, {"delimiter": ","}])
def test_single_marks_enclose_fields_where_nearly_every_row_has_them(options):
    rows, notes = cells(SINGLE, **options)
    assert rows == [*SINGLE_ROWS, ["so-so", "neg"]]
    assert any("--quoting none" in note for note in notes) is ("quoting" not in options)
    escaped, _ = cells("text,label\n'it\\'s, fine',a\n'b',c\n'd, e',f\n'g',h\n")
    assert escaped == [["text", "label"], ["it's, fine", "a"], ["b", "c"], ["d, e", "f"], ["g", "h"]]


def test_single_marks_in_some_rows_enclose_fields_where_only_they_make_the_rows_even():
    quoted = "Web;'Er sagt ''Nein'': so; und so, nicht'\n"
    rows, notes = cells((quoted + "Inland;Er kam, sah, ging\nSport;Sie siegte, am Ende\n") * 4)
    assert rows[:2] == [["Web", "Er sagt 'Nein': so; und so, nicht"], ["Inland", "Er kam, sah, ging"]]
    assert any("single quotation marks enclose fields" in note for note in notes)
    uneven = cells("Web;'so; und so'\nInland;so; nicht\nSport;ja\n" * 4, [])
    assert not any("single" in note for note in uneven[1])


@pytest.mark.parametrize("escape", [None, "\\"])
def test_single_marks_are_read_as_double_ones_are(escape):
    """The same rows and errors, with the two kinds of marks exchanged."""
    random, exchanged = Random(0), str.maketrans("\"'", "'\"")
    for _ in range(1000):
        text = "text,label\n" + "".join(random.choices("ab'\"\\, ;\t\n'", k=random.randint(5, 60)))
        options, errors, single_errors = {"delimiter": ",", "escape": escape}, [], []
        expected, _ = cells(text, errors, quoting="double", **options)
        rows, _ = cells(text.translate(exchanged), single_errors, quoting="single", **options)
        assert [[cell.translate(exchanged) for cell in row] for row in rows] == expected
        assert [(error.code, error.line, error.column) for error in single_errors] == [
            (error.code, error.line, error.column) for error in errors
        ]


def test_errors_and_tsv_go_by_the_mark(tmp_path):
    errors = []
    cells("text,label\n'it's bad',a\n", errors, quoting="single")
    assert [error.advice.startswith("write a ' inside") for error in errors] == [True]
    path = tmp_path / "a.tsv"
    path.write_text("text\tlabel\n'it''s a\ttab'\tx\nb\ty\n")
    assert [row.item.text for row in read_rows(path, ReadOptions(quoting="single"))] == ["it's a\ttab", "b"]


@pytest.mark.parametrize(
    "text",
    [
        "text,label\n'tis fine,a\n'twas bad,b\nrock 'n' roll,a\n'so', he said,b\n",
        "text,label\n(1, 'a', 'b'),\n(2, 'c', 'd'),\n(3, 'e', 'f'),\n(4, 'g', 'h'),\n",
        "text,label\n\"'a', 'b'\",x\n\"'c', 'd'\",y\n\"'e', 'f'\",z\n\"'g', 'h'\",z\n",
        "text,label\n'a',b\n'c',d\n",  # too few
    ],
)
def test_other_single_marks_are_characters(text):
    rows, notes = cells(text)
    assert any("'" in cell for row in rows[1:] for cell in row)
    assert not any("single" in note for note in notes)


@pytest.mark.parametrize("options", [{}, {"escape": "\\"}])
def test_a_backslash_escapes_a_quotation_mark(options):
    text = 'text,label\n"a \\"big\\" one, and C:\\new",x\n"so \\"so\\"",y\n"it ends in \\\\",z\n'
    rows, notes = cells(text, **options)
    assert rows[1:] == [['a "big" one, and C:\\new', "x"], ['so "so"', "y"], ["it ends in \\", "z"]]
    assert any("--quoting double" in note for note in notes) is not bool(options)


def test_other_escapes():
    assert cells("a\\,b,c\nd\\\ne,f\n", escape="\\")[0] == [["a,b", "c"], ["d\ne", "f"]]
    assert cells('"a~"b",c\n', escape="~")[0] == [['a"b', "c"]]
    for escape in ('"', "", "ab", ","):
        with pytest.raises(ConfigError, match="escape"):
            cells("a,b\n", escape=escape, delimiter=",")


def test_a_single_escape_in_a_file_of_doubled_marks_is_an_error_that_names_it():
    problems = []
    cells('"a ""b"" c",x\n"a ""b"", d",x\n"a \\"b",y\n', problems, quoting="double")
    assert problems[0].line == 3
    assert "--escape" in problems[0].advice


def test_blanks_before_and_after_quotation_marks():
    assert cells('a, "b, c"\nd,  "e"\n')[0] == [["a", "b, c"], ["d", "e"]]
    assert cells('"a" ,"b"  \n')[0] == [["a", "b"]]
    assert cells('a, "b" c\nd, e\n')[0] == [["a", ' "b" c'], ["d", " e"]]
    assert cells('"a" "b c"\n', delimiter=" ")[0] == [["a", "b c"]]


def test_tsv_with_and_without_quotation_marks(write):
    path = write("a.tsv", 'text\tlabel\n"a ""b"""\tx\n"c"\ty\n')
    assert [row.item.text for row in read_rows(path)] == ['a "b"', "c"]
    raw = read_rows(path, ReadOptions(quoting="none"))
    assert [row.item.text for row in raw] == ['"a ""b"""', '"c"']
    path = write("b.tsv", 'text\tlabel\n"a\nb\tc"\tx\nd\ty\n')
    assert [row.item.text for row in read_rows(path, ReadOptions(quoting="double"))] == ["a\nb\tc", "d"]


@pytest.mark.parametrize("option", [{"quoting": "none"}, {"escape": "\\"}])
def test_other_formats_have_no_quoting(write, option):
    with pytest.raises(ConfigError, match="does not apply"):
        read_rows(write("a.jsonl", '{"text": "a"}\n'), ReadOptions(**option))


ONE_COLUMN = [
    '{}\n"rake, soil"\n"oven\nand flour"\nchain\n',
    "{}\nrake, soil\noven; flour\nchain\n",
    '"{}"\r\n"rake"\r\n"oven"\r\n',
    "{}\na, b\nc; d, e\nf\n\ng\n",
    "\ufeff{}\nrake\noven\n",
]


@pytest.mark.parametrize("name", [*TEXT_NAMES, "Review Text", "tweet_text"])
def test_a_single_usual_name_is_a_header_with_and_without_a_file_name(write, name):
    for number, layout in enumerate(ONE_COLUMN):
        contents = layout.format(name)
        texts = [
            [row.item.text for row in read_rows(write(f"{number}{suffix}", contents))]
            for suffix in (".csv", ".txt", "")
        ]
        assert texts[0] == texts[1] == texts[2]
        assert name not in texts[0]
    assert len(texts[0]) == 2


@pytest.mark.parametrize("text", ["text\na,x\nb,y\n", "text\na;x\nb;y\n", "text\na\tx\nb\ty\n"])
def test_a_header_that_lacks_a_name_is_an_error_with_and_without_a_file_name(write, fails, text):
    for name in ("a.csv", "a.txt"):
        path = write(name, text)
        assert fails(lambda: list(read_rows(path)))[:2] == ("HW110", 2)  # noqa: B023


def test_prose_that_begins_with_a_short_line_is_no_table():
    assert not FORMATS["csv"].recognise(["Introduction", "It was late.", "The rain, too."])
    assert not FORMATS["csv"].recognise(["text"])


def test_one_bad_row_does_not_hide_a_table():
    rows = ["text,label", *["a film,x", "a book,y"] * 5, "a song"]
    assert FORMATS["csv"].recognise(rows)
    assert FORMATS["tsv"].recognise([row.replace(",", "\t") for row in rows])


@pytest.mark.parametrize("delimiter", ["^", "~", "\x01"])
def test_rare_delimiters(delimiter):
    text = "text,label\nso it is,a\nno,b\n".replace(",", delimiter)
    assert cells(text)[0] == [["text", "label"], ["so it is", "a"], ["no", "b"]]


def test_rows_that_only_escapes_make_readable():
    text = '"1"\t"they say \\"no\\""\ta\n"2"\t"a \\"b\\", c"\tb\n'
    rows = [["1", 'they say "no"', "a"], ["2", 'a "b", c', "b"]]
    assert cells(text)[0] == rows
    lines = enumerate(text.removesuffix("\n").split("\n"), start=1)
    assert [row for _, row in tsv.read_cells(lines, DataSource("a.tsv"))] == rows


@pytest.mark.parametrize("delimiter", DELIMITERS)
def test_every_delimiter_stands_between_quoted_fields(delimiter):
    texts = [f"{mark}a text, and{delimiter} more{mark}{delimiter}{mark}x{mark}" for mark in "\"'"]
    for text in texts:
        mark = text[0]
        header = f"{mark}text{mark}{delimiter}{mark}label{mark}"
        rows, _ = cells("\n".join([header, *[text] * 5]))
        assert rows == [["text", "label"], *[[f"a text, and{delimiter} more", "x"]] * 5]
    assert recognise([texts[0]] * 3)
