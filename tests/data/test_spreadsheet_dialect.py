"""The dialect of csv that the program behind a file opens."""

import pytest

from headwise.data.readers.spreadsheet_dialect import SpreadsheetDialect


@pytest.mark.parametrize(
    ("text", "delimiter", "decimal"),
    [
        ("text;price\ngood, very;3,5\n", ";", ","),
        ("text;price\ngood;3\n", ";", ","),
        ("text;price\ngood;3.5\nbad;4\n", ";", "."),
        ("text;price;date\ngood;3.5;1,5\n", ";", ","),
        ("text,price\ngood,3.5\n", ",", "."),
        ("text\tprice\ngood; bad\t3,5\n", ",", "."),
        ("sep=;\ntext;price\ngood;3,5\n", ";", ","),
        ('{"text": "a;b"}\n', ",", "."),
    ],
)
def test_semicolons_are_followed_and_so_are_decimal_commas(tmp_path, text, delimiter, decimal):
    (tmp_path / "file").write_text(text, encoding="utf-8")
    dialect = SpreadsheetDialect.of(str(tmp_path / "file"), {})
    assert (dialect.delimiter, dialect.decimal, dialect.marked) == (delimiter, decimal, False)
    assert dialect.cell(0.25) == f"0{decimal}25"
    assert bool(dialect.note) == (delimiter == ";")


@pytest.mark.parametrize(
    ("encoding", "reading", "marked"),
    [
        ("utf-8", {}, False),
        ("utf-8-sig", {}, True),
        ("utf-16", {}, True),
        ("cp1252", {"encoding": "cp1252"}, True),
        ("utf-8", {"encoding": "UTF8"}, False),
        ("utf-8", {"encoding": "no-such"}, False),  # an error where the file is read
    ],
)
def test_a_mark_says_utf8_where_the_input_was_not_plain_utf8(tmp_path, encoding, reading, marked):
    (tmp_path / "file.csv").write_text("text;price\nschön;3,5\n", encoding=encoding)
    assert SpreadsheetDialect.of(str(tmp_path / "file.csv"), reading).marked == marked
    assert not SpreadsheetDialect.of(str(tmp_path / "missing.csv"), {}).marked
