"""Files of tables that are no text: Excel workbooks and Parquet files, told by their content.

Each is read as lines of text, a row a line, of which the number is that of the row: a sheet as csv, a
Parquet file as objects of JSON. So whatever reads csv or JSON Lines reads them too.

Codes: HW104 rows that take far more than the file; HW107 a row that is longer than any text.
"""

import os
import zipfile
from collections.abc import Callable, Iterator

from headwise.data.archives import read_files, split_member
from headwise.data.compression import PARQUET, SIGNATURES, WORKBOOK, ZIP_TROUBLE, read_once
from headwise.data.errors import DataError
from headwise.data.files import BOMB_RATIO, BOMB_SIZE, LONGEST_LINE, Line
from headwise.data.parquet import parquet_lines
from headwise.data.workbook import workbook_lines

TABLES: dict[str, Callable[[str, str | None, list[str]], Iterator[Line]]] = {
    "xlsx": workbook_lines,
    "parquet": parquet_lines,
}
"""What reads each: a file, a sheet of it if one is asked for, and a list for what there is to tell."""


def table_kind(path: str) -> str | None:
    """Which of `TABLES` a file is; None for others, and for pipes, which cannot be read from the end."""
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
    except ZIP_TROUBLE:  # whoever reads the file says what is wrong with it
        pass
    return None


def table_lines(kind: str, path: str, notes: list[str]) -> Iterator[Line]:
    """The rows of a table as lines.

    Args:
        kind: Which of `TABLES` it is.
        path: The file; `book.xlsx!NAME` is a sheet of a workbook.
        notes: Gets what there is to tell, before the first line.

    Raises:
        DataError: HW101 to HW104, HW107, HW109, HW112, HW128.
    """
    file, sheet = split_member(path)
    most = max(BOMB_SIZE, BOMB_RATIO * os.path.getsize(file))
    for number, text in TABLES[kind](file, sheet, notes):
        most -= len(text)
        if len(text) > LONGEST_LINE:
            found = f"a row of more than {LONGEST_LINE:,} characters"
            raise DataError("HW107", found, path=path, line=number)
        if most < 0:
            found = "rows that take far more than the file, as those of no text do"
            raise DataError("HW104", found, path=path, line=number)
        yield number, text


def files_of_records(
    path: str, encoding: str = "utf-8", errors: str = "strict", notes: list[str] | None = None
) -> Iterator[tuple[str, Iterator[Line]]]:
    """As `headwise.data.archives.read_files`, and of a table that is no text its rows.

    Raises:
        DataError: HW101 to HW109, HW112, HW128.
        ConfigError: The encoding or `errors` is unknown.
    """
    if kind := table_kind(path):
        yield path, table_lines(kind, path, [] if notes is None else notes)
    else:
        yield from read_files(path, encoding, errors)
