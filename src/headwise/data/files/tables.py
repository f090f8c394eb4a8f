"""Binary table files: Excel workbooks and Parquet files, recognised by their content.

Each is read as lines of text, one per row, numbered by row: a sheet as csv, a Parquet file as JSON objects.
So the readers of csv and JSON Lines can read them.

Codes: HW104 rows that take far more than the file; HW107 a row that is longer than any text.
"""

import os
import zipfile
from collections.abc import Callable, Iterator

from headwise.data.errors import DataError
from headwise.data.files.archives import read_files, split_member
from headwise.data.files.compression import PARQUET, SIGNATURES, WORKBOOK, ZIP_TROUBLE, read_once
from headwise.data.files.parquet import parquet_lines
from headwise.data.files.text_lines import BOMB_RATIO, BOMB_SIZE, LONGEST_LINE, Line
from headwise.data.files.workbook import workbook_lines

TABLES: dict[str, Callable[[str, str | None, list[str]], Iterator[Line]]] = {
    "xlsx": workbook_lines,
    "parquet": parquet_lines,
}
"""The reader of each format: takes a file, the name of a sheet or None, and a list that receives notes."""


def table_kind(path: str) -> str | None:
    """The binary table format of a file, a key of `TABLES`; None for other files and for pipes."""
    file = split_member(path)[0]
    if read_once(file) or not os.path.isfile(file):
        return None
    try:
        with open(file, "rb") as opened:
            first = opened.read(4)
            if first == PARQUET:
                return "parquet"
            if first == SIGNATURES["zip"] and WORKBOOK in zipfile.ZipFile(opened).namelist():
                return "xlsx"
    except ZIP_TROUBLE:  # the reader of the file reports the damage
        pass
    return None


def table_lines(kind: str, path: str, notes: list[str]) -> Iterator[Line]:
    """The rows of a table as lines.

    Args:
        kind: The format, a key of `TABLES`.
        path: The file; `book.xlsx!NAME` is a sheet of a workbook.
        notes: Receives notes for the user before the first line is read.

    Raises:
        DataError: HW101 to HW104, HW107, HW109, HW112, HW128.
    """
    file, sheet = split_member(path)
    most = max(BOMB_SIZE, BOMB_RATIO * os.path.getsize(file))
    for number, text in TABLES[kind](file, sheet, notes):
        most -= len(text)
        if len(text) > LONGEST_LINE:
            problem = f"a row of more than {LONGEST_LINE:,} characters"
            raise DataError("HW107", problem, path=path, line=number)
        if most < 0:
            problem = "rows that take far more than the file, as those of no text do"
            raise DataError("HW104", problem, path=path, line=number)
        yield number, text


def files_of_records(
    path: str, encoding: str = "utf-8", errors: str = "strict", notes: list[str] | None = None
) -> Iterator[tuple[str, Iterator[Line]]]:
    """The files of a path with their lines (`headwise.data.files.archives.read_files`), or the rows of a
    binary table.

    Raises:
        DataError: HW101 to HW109, HW112, HW128.
        ConfigError: The encoding or `errors` is unknown.
    """
    if kind := table_kind(path):
        yield path, table_lines(kind, path, [] if notes is None else notes)
    else:
        yield from read_files(path, encoding, errors)
