"""Quotation marks around whole rows."""

import csv

import pytest

from headwise.data.columns.reading_options import ReadOptions
from headwise.data.errors import DataError
from headwise.data.readers.labelled_files import read_examples, read_rows

ROWS = ["text;label", *(f"the door is stuck, no {n};{'ab'[n % 2]}" for n in range(9))]


def quoted(rows) -> str:
    return "".join(f'"{row}"\n' for row in rows)


@pytest.mark.parametrize("read", [read_examples, lambda path: [*read_rows(path)]])
def test_rows_in_quotation_marks(tmp_path, read):
    (tmp_path / "a.csv").write_text(quoted(ROWS))
    with pytest.raises(DataError, match="'text;label', whose cells hold whole rows") as error:
        read(tmp_path / "a.csv")
    assert error.value.code == "HW114"


@pytest.mark.parametrize(
    ("rows", "options"),
    [
        (["text", "a; b", "c; d"], {}),
        (["text, in words", "a, b", "c, d"], {"header": True}),
        (["text;label", "no mark", "nor here"], {"header": True}),
        (ROWS, {"text_column": "text;label"}),
        (ROWS, {"text_column": "1"}),
    ],
)
def test_texts_of_one_column(tmp_path, rows, options):
    (tmp_path / "a.csv").write_text(quoted(rows))
    assert len([*read_rows(tmp_path / "a.csv", ReadOptions(**options))]) == len(rows) - 1


def test_cells_of_code_with_a_comma_per_line(tmp_path):
    """As many commas a line as a row has, and no column with few values to tell rows by: code is no row."""
    codes = [f"name_{n}:\n" + "\n".join(f'  "key {n} {line}": 1,' for line in range(4)) for n in range(12)]
    with open(tmp_path / "a.csv", "w", newline="") as file:
        csv.writer(file).writerows(
            [["text", "label"], *((code, f"kind {n}") for n, code in enumerate(codes))]
        )
    assert [example.text for example in read_examples(tmp_path / "a.csv").items] == codes
