"""The rows of a sheet of an Excel workbook (.xlsx).

A formula is read as its value when the workbook was saved. Empty columns beside the table and empty rows
below it are skipped. Rows and columns that Excel hides are read, which is told.

Codes: HW101 no such sheet; HW102 damage; HW103 nothing in it; HW104 far larger than its file; HW128
formulas without values.
"""

import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, count, islice
from pathlib import Path
from typing import IO, Any

from headwise.core.errors import close_names
from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.errors import DataError
from headwise.data.files.archives import SEPARATOR
from headwise.data.files.table_cells import cell_text, damage_as_data_error, import_optional_library
from headwise.data.files.text_lines import BOMB_RATIO
from headwise.data.findings import abbreviate

MOST_ROWS = 1 << 20  # Excel has no more
LARGEST_PART = 1 << 26  # bytes of XML in a small file; parsing may take 30 times as much memory
_AT_ONCE, _LOOKED_AT = 100, 1000  # rows
_ESCAPED = lazy_pattern("_x00(?!00)([01][0-9A-Fa-f])_")  # how Excel writes control characters
_HIDDEN = lazy_pattern(rb'<(?:\w+:)?(row|col)\b(?=[^>]*\shidden="(?:1|true)")([^>]*)>(?!</(?:\w+:)?row)')
_NUMBERS = lazy_pattern(rb'\s(?:r|min|max)="(\d+)"')
_SAVE_AGAIN = "open it in Excel or LibreOffice and save it as .xlsx again"
SHEET_NOTE = "the sheet "
"""Beginning of the note on the chosen sheet."""

Cells = tuple[int, list[str]]


def workbook_rows(file: str, sheet: str | None, notes: list[str]) -> Iterator[Cells]:
    """The row numbers and the cells of a sheet, without empty rows above and below the table. All rows are
    as wide as the first ones; only a row with cells beside the table is wider.

    Args:
        file: The workbook.
        sheet: The name of the sheet; by default the first visible sheet that is not empty.
        notes: Receives a note on the chosen sheet, if there are several.

    Raises:
        DataError: HW101 to HW104, HW109, HW128.
    """
    openpyxl = import_optional_library("openpyxl", "an Excel workbook", file)
    with open(file, "rb") as opened:
        _check_sizes(opened, file)
        with _damage_as_error(file):
            book = openpyxl.load_workbook(opened, read_only=True, data_only=True, keep_links=False)
        name, rows = _choose(book, file, sheet, notes)
        head = [*islice(rows, _LOOKED_AT)]
        width = max(len(cells) for _, cells in head)
        with _damage_as_error(file):
            notes += _hidden_notes(book[name], width, openpyxl.utils.get_column_letter)
        left = min(_first_filled(cells) for _, cells in head)
        if empty_columns := _columns_without_values(head, width):
            with _damage_as_error(file):
                book = openpyxl.load_workbook(opened, read_only=True, keep_links=False)
            _check_formulas(_rows(book[name], file), head, empty_columns, f"{file}{SEPARATOR}{name}")
        last = head[0][0] - 1
        for number, cells in chain(head, rows):
            for empty in range(last + 1, number):
                yield empty, [""] * (width - left)
            # Cells left of the table make rows too long.
            start = left if _first_filled(cells) >= left else 0
            yield number, [*cells[start:], *[""] * (width - len(cells))]
            last = number


def _first_filled(cells: Sequence[str]) -> int:
    return next(i for i, cell in enumerate(cells) if cell.strip())


@contextmanager
def _damage_as_error(file: str) -> Generator[None]:
    """A context that reports damage of the workbook as a `DataError`, without openpyxl's warnings."""
    with (
        damage_as_data_error("an Excel workbook", file, _SAVE_AGAIN),
        warnings.catch_warnings(action="ignore"),
    ):
        yield


def _check_sizes(opened: IO[bytes], file: str) -> None:
    """Raise HW104 for a decompression bomb."""
    from zipfile import ZipFile

    with _damage_as_error(file), ZipFile(opened) as archive:
        for part in archive.infolist():
            if part.file_size > max(LARGEST_PART, BOMB_RATIO * part.compress_size):
                problem = f"a workbook in which {part.compress_size:,} bytes stand for {part.file_size:,}"
                raise DataError("HW104", problem, expected="a table", advice=_SAVE_AGAIN, path=file)


def _choose(book: Any, file: str, sheet: str | None, notes: list[str]) -> tuple[str, Iterator[Cells]]:
    """The name of the chosen sheet and its rows, at least one."""
    names = [worksheet.title for worksheet in book.worksheets]
    if sheet is not None:
        if sheet not in names:
            close = close_names(sheet, names)
            advice = f"did you mean {file}{SEPARATOR}{close[0]}?" if close else f"it has {_shown(names)}"
            raise DataError("HW101", f"the workbook has no sheet {sheet!r}", advice=advice, path=file)
        candidates = [sheet]
    else:
        candidates = [one.title for one in book.worksheets if one.sheet_state == "visible"]
    for name in candidates:
        rows = _rows(book[name], file)
        if first := next(rows, None):
            rest = [] if sheet else [title for title in names if title != name]
            if unread := [title for title in rest if next(_rows(book[title], file), None)]:
                example = f"{Path(file).name}{SEPARATOR}{unread[0]}"
                note = f"{SHEET_NOTE}{name!r} is read, not {_shown(unread)} - name another as {example!r}"
                notes.append(note)
            return name, chain([first], rows)
    hidden = [name for name in names if name not in candidates]
    advice = f"name a hidden one as {Path(file).name}{SEPARATOR}{hidden[0]}" if hidden and not sheet else ""
    what = f"the sheet {sheet!r} is empty" if sheet else "no sheet that is shown has a row"
    raise DataError("HW103", what, expected="a table", advice=advice, path=file)


def _hidden_notes(sheet: Any, width: int, letter: Callable[[int], str]) -> Iterator[str]:
    """Notes on the rows and columns of a sheet that are hidden, by hand or by a filter."""
    rows, columns, rest = list[int](), list[str](), b""
    with sheet._get_source() as xml:  # openpyxl reads no properties of rows in read-only mode
        while part := xml.read(1 << 20):
            *complete, rest = (rest + part).rpartition(b"<")
            for kind, attributes in _HIDDEN.findall(b"".join(complete)):
                numbers = [*map(int, _NUMBERS.findall(attributes))]
                if kind == b"col":
                    columns += map(letter, range(numbers[0], min(numbers[-1], width) + 1))
                elif not attributes.endswith(b"/"):  # a row with cells
                    rows += numbers[:1]
            rest = b"<" + rest if complete[1] else rest
    if rows:
        yield f"rows that are hidden or filtered out are read, too: {len(rows):,}, first {rows[0]:,}"
    if columns:
        yield f"columns that are hidden are read, too: {abbreviate(columns)}"


def _shown(names: Sequence[str]) -> str:
    return abbreviate([repr(name) for name in names])


def _rows(sheet: Any, file: str) -> Iterator[Cells]:
    """The non-empty rows of a sheet, each cut after its last non-empty cell."""
    sheet.reset_dimensions()  # many programs write wrong dimensions
    rows = iter(sheet.iter_rows(values_only=True))
    numbers = count(1)
    while True:
        with _damage_as_error(file):
            part = [[*map(_text, row)] for row in islice(rows, _AT_ONCE)]
        if not part:
            return
        for cells in part:
            number = next(numbers)
            if number > MOST_ROWS:
                problem = f"a sheet of more than {MOST_ROWS:,} rows"
                raise DataError("HW104", problem, advice=_SAVE_AGAIN, path=file)
            while cells and not cells[-1].strip():
                cells.pop()
            if cells:
                yield number, cells


def _text(value: object) -> str:
    text = cell_text(value)
    return _ESCAPED.sub(lambda code: chr(int(code[1], 16)), text) if "_x00" in text else text


def _columns_without_values(head: Sequence[Cells], width: int) -> list[int]:
    """The columns that have a header but no values in the first rows."""
    filled = [sum(len(row) > n and bool(row[n].strip()) for _, row in head) for n in range(width)]
    return [column for column, cells in enumerate(filled) if cells < 2 <= len(head)]


def _check_formulas(
    rows: Iterator[Cells], head: Sequence[Cells], empty_columns: Sequence[int], path: str
) -> None:
    """Reject columns of formulas that were never computed, whose cells are read as empty."""
    values = dict(head)
    for number, cells in islice(rows, len(head)):
        for column in empty_columns:
            computed = values.get(number, [])
            if column < len(cells) and cells[column] and not "".join(computed[column : column + 1]):
                raise DataError(
                    "HW128",
                    f"formulas without values in the column {column + 1}, first {cells[column][:40]!r}",
                    advice="open the workbook in Excel or LibreOffice and save it, which computes them",
                    path=path,
                    line=number,
                )
