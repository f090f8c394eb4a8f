"""Binary table files: Excel workbooks and Parquet files, recognised by their content.

A row of a workbook is a list of cells, a row of a Parquet file a JSON object. The readers of tagged words,
and the guess of a task, take a row as a line of text: of csv with all cells quoted, or of JSON.

Codes: HW104 rows that take far more than the file; HW107 a row that is longer than any text.
"""

import json
import os
from collections.abc import Callable, Iterator
from typing import IO

from headwise.data.errors import DataError
from headwise.data.files.archives import read_files, split_member
from headwise.data.files.compression import SIGNATURES, read_once
from headwise.data.files.file_signatures import PARQUET, WORKBOOK
from headwise.data.files.parquet import parquet_rows
from headwise.data.files.text_lines import BOMB_RATIO, BOMB_SIZE, LONGEST_LINE, Line
from headwise.data.files.workbook import workbook_rows

TableRow = tuple[int, list[str]] | tuple[int, dict[str, object]]
"""The number of a row, from 1, and its cells or its JSON object."""

TABLES: dict[str, Callable[[str, str | None, list[str]], Iterator[TableRow]]] = {
    "xlsx": workbook_rows,
    "parquet": parquet_rows,
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
            if first == SIGNATURES["zip"] and _is_workbook(opened):
                return "xlsx"
    except OSError:  # the reader of the file reports it
        pass
    return None


def _is_workbook(opened: IO[bytes]) -> bool:
    from zipfile import ZipFile

    from headwise.data.files.unpacking import ZIP_TROUBLE

    try:
        return WORKBOOK in ZipFile(opened).namelist()
    except ZIP_TROUBLE:  # the reader of the file reports the damage
        return False


def table_rows(kind: str, path: str, notes: list[str]) -> Iterator[TableRow]:
    """The rows of a table.

    Args:
        kind: The format, a key of `TABLES`.
        path: The file; `book.xlsx!NAME` is a sheet of a workbook.
        notes: Receives notes for the user before the first row is read.

    Raises:
        DataError: HW101 to HW104, HW107, HW109, HW112, HW128.
    """
    file, sheet = split_member(path)
    most = max(BOMB_SIZE, BOMB_RATIO * os.path.getsize(file))
    for row in TABLES[kind](file, sheet, notes):
        number, cells = row
        length = _length(cells)
        most -= length
        if length > LONGEST_LINE:
            problem = f"a row of more than {LONGEST_LINE:,} characters"
            raise DataError("HW107", problem, path=path, line=number)
        if most < 0:
            problem = "rows that take far more than the file, as those of no text do"
            raise DataError("HW104", problem, path=path, line=number)
        yield row


def _length(cells: list[str] | dict[str, object]) -> int:
    """The number of characters of a row as a line of text, about."""
    if isinstance(cells, dict):
        return sum(len(name) + len(str(cell)) + 6 for name, cell in cells.items())
    return sum(len(cell) + 3 for cell in cells)


def row_line(row: TableRow) -> Line:
    """A row as a line of text."""
    number, cells = row
    if isinstance(cells, dict):
        return number, json.dumps(cells, ensure_ascii=False)
    return number, ",".join('"' + cell.replace('"', '""') + '"' for cell in cells)


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
        yield path, map(row_line, table_rows(kind, path, [] if notes is None else notes))
    else:
        yield from read_files(path, encoding, errors)
