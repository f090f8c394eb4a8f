"""Convert rows of cells to records with named fields: find the header, and check the width of rows."""

from collections.abc import Iterator

from headwise.data.files.file_source import DataSource, Record, look_ahead
from headwise.data.formats import table_header as orange
from headwise.data.formats.csv import Cells
from headwise.data.formats.table_header import has_header, title_rows


def records_from_rows(rows: Iterator[Cells], source: DataSource) -> Iterator[Record]:
    """The rows as records, with fields named by the header.

    Without a header the fields are named by column number, from "1".
    """
    head, rows = look_ahead(rows)
    if not head:
        return
    if above := title_rows([cells for _, cells in head], source.options):
        last = f" to {head[above - 1][0]} are" if above > 1 else " is"
        source.notes.append(f"line{'s' * (above > 1)} {head[0][0]}{last} no data: a title above the table")
        for _ in range(above):
            next(rows)
        head = head[above:]
    line, first = head[0]
    header, sample = source.options.header, [cells for _, cells in head]
    declared = header is not False and orange.has_type_rows(sample)
    if header is None:
        header = declared or has_header(sample, source.options)
        note = f"line {line} is a header" if header else "no header, columns are numbered"
        flag = "--no-header" if header else "--header"
        source.notes.append(f"{note} - override with {flag}")
    if declared:
        source.notes.append(
            f"lines {head[1][0]} and {head[2][0]} are no data: Orange's kinds and roles of the columns"
        )
    if header:
        for _ in range(3 if declared else 1):
            next(rows)
        names = [name.strip() or str(i) for i, name in enumerate(first, start=1)]
        _check_header(names, len(head) > (3 if declared else 1), line, source)
    else:
        names = [str(i) for i in range(1, len(first) + 1)]
    for number, cells in rows:
        if len(cells) == len(names):
            yield Record(number, dict(zip(names, cells, strict=True)))
        else:
            _report_width(len(cells), len(names), number, line, source)


def _check_header(names: list[str], rows: bool, line: int, source: DataSource) -> None:
    first: dict[str, int] = {}
    column = next((i for i, name in enumerate(names, 1) if first.setdefault(name, i) != i), None)
    if column is not None:
        twice = names[column - 1]
        raise source.error(
            "HW112",
            f"two columns named {twice!r} (the second is column {column})",
            line,
            advice="rename one",
        )
    if not rows:
        advice = "if this row is data give --no-header"
        raise source.error("HW113", "a header without rows below it", line, advice=advice)


def _report_width(width: int, expected: int, line: int, first: int, source: DataSource) -> None:
    source.report_error(
        "HW110",
        f"a row of {width} field{'s' * (width != 1)}",
        line,
        expected=f"{expected} as in line {first}",
        advice="empty the cells beside the table, or remove them"
        if source.table
        else "a field that holds the delimiter or a line end has to stand in quotes in a csv file",
    )
