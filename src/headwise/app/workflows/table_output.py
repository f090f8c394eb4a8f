"""Tables of rows as csv, tsv and Excel files."""

import json
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from headwise.core.errors import ConfigError
from headwise.core.extras import install_line
from headwise.core.file_lock import atomic_output
from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.files.workbook import MOST_ROWS
from headwise.data.readers.spreadsheet_dialect import SpreadsheetDialect
from headwise.models.output_file import OutputError, open_output, reporting_write_errors
from headwise.models.prediction_file import table_line

_LONGEST_CELL = 32_767  # characters; Excel has no more
_MOST_DIGITS = 15
_CONTROL = lazy_pattern("[\x00-\x08\x0b\x0c\x0e-\x1f]")


def import_library(name: str, what: str) -> Any:
    """A library of the extra `tables`.

    Raises:
        ConfigError: It is not installed.
    """
    try:
        return import_module(name)
    except ImportError:
        needs = f"{what} need {name.partition('.')[0]}"
        raise ConfigError(f"{needs}: {install_line('tables')}") from None


def check_form(form: str) -> None:
    """Check that rows can be written in a format, before they are computed.

    Raises:
        ConfigError: The library for Excel workbooks is not installed.
    """
    if form == "xlsx":
        import_library("openpyxl", "Excel workbooks")


def write_rows(
    output: Path | None, form: str, rows: Iterable[Sequence[object]], dialect: SpreadsheetDialect
) -> None:
    """Write rows, the first of which names the columns.

    Args:
        output: The file; None for standard output.
        form: csv, tsv or xlsx.
        rows: The rows; cells of tsv have no tabs and line ends.
        dialect: How csv is written; of it tsv has the byte order mark.

    Raises:
        OutputError: HW603, HW604.
    """
    if form == "xlsx" and output is not None:
        with reporting_write_errors(output), atomic_output(output) as part:
            write_workbook(part, rows)
        return
    lines = (table_line([*map(dialect.cell, row)], form, dialect.delimiter) for row in rows)
    with open_output(output, atomic=True) as target:
        target.write(("\ufeff" * dialect.marked + "".join(lines)).encode("utf-8", "surrogatepass"))


def write_workbook(path: Path, rows: Iterable[Sequence[object]]) -> int:
    """Write rows, the first of which names the columns, as a workbook of one sheet; returns their number.

    A text that is written like a number is a number, and any other one a text, never a formula.

    Raises:
        OutputError: HW603, a sheet cannot hold a text or all rows.
    """
    library = import_library("openpyxl", "Excel workbooks")
    book, count = library.Workbook(write_only=True), 0
    sheet = book.create_sheet("headwise")
    sheet.freeze_panes = "A2"
    for count, row in enumerate(rows, start=1):
        if count > MOST_ROWS:
            raise _unfit(f"more than {MOST_ROWS:,} rows", "name the output part-{}.xlsx, .csv or .parquet")
        sheet.append([_cell(library.cell.WriteOnlyCell, sheet, value, count) for value in row])
    book.save(path)
    return count


def _cell(text_cell: Any, sheet: Any, value: object, row: int) -> Any:
    if value is None or isinstance(value, bool | float):
        return value if value == value else None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if len(text) <= _MOST_DIGITS and (number := _as_number(text)) is not None:
        return number
    if len(text) > _LONGEST_CELL:
        problem = f"row {row} has a text of {len(text):,} characters, and a cell at most {_LONGEST_CELL:,}"
        raise _unfit(problem, "name the output .csv, .jsonl or .parquet")
    text = _CONTROL.sub(lambda match: f"_x{ord(match[0]):04X}_", text.encode(errors="replace").decode())
    cell = text_cell(sheet, text)
    cell.data_type = "s"  # "=1+1" is no formula
    return cell


def _as_number(text: str) -> float | None:
    """The number of which this is the usual spelling; None for others, such as `007`."""
    try:
        number = float(text)
    except ValueError:
        return None
    values = (number, int(number)) if number.is_integer() else (number,)
    return next((value for value in values if str(value) == text), None)


def _unfit(problem: str, advice: str) -> OutputError:
    return OutputError(f"a sheet of Excel cannot hold the output: {problem}; {advice}", code="HW603")
