"""What is wrong with the shape of a table: a second table, or totals, below its rows and a blank line; or
one column whose cells hold whole rows, as where quotation marks stand around each row.

Codes: HW114, HW129.
"""

from collections.abc import Iterator, Sequence
from itertools import chain

from headwise.data.columns.file_source import DataSource, look_ahead
from headwise.data.formats.csv_records import Cells
from headwise.data.formats.table_header import has_usual_name_in, is_numeric_cell

_LEAST_ROWS = 10  # above a blank line, from which on a column without numbers tells
_MOST_ROWS = 50  # that are compared
_FEW_ROWS = 3  # below a blank line, which may be totals or a remark


def first_table(rows: Iterator[Cells], source: DataSource) -> Iterator[Cells]:
    """The rows down to a second table, which is reported (HW129).

    It begins below the first blank line or empty row, if a column without numbers above has nothing but
    numbers there, perhaps below a header; or if a few rows there have empty cells in two columns or more
    that are always filled above.
    """
    above, previous, looking = list[Sequence[str]](), (0, [""]), True
    while (row := next(rows, None)) is not None:
        number, cells = row
        if not any(map(str.strip, cells)):
            yield row
            continue
        gap = number - previous[0] - 1  # lines between the rows, or within the cells of the row before
        if looking and above and gap > 0 and gap > sum(cell.count("\n") for cell in previous[1]):
            looking = False
            below, rows = look_ahead(chain((row,), rows), count=_MOST_ROWS)
            next(rows)
            if _differ(above, [below_cells for _, below_cells in below]):
                source.report_error(
                    "HW129",
                    "a second table, or totals, below a blank line",
                    number,
                    expected="one table with one header",
                    advice="write it to a file of its own, or remove it",
                )
                return
        if looking and len(above) < _MOST_ROWS:
            above.append(cells)
        previous = row
        yield row


def _differ(above: Sequence[Sequence[str]], below: Sequence[Sequence[str]]) -> bool:
    """Whether a column has no numbers above and only numbers below, or below a header, and no value recurs
    in its column."""
    width = len(above[0])
    above, below = ([row for row in rows if len(row) == width] for rows in (above, below))
    if len(above) < _LEAST_ROWS or not below:
        return False
    columns = [*zip(zip(*above, strict=True), zip(*below, strict=True), strict=True)]
    filled = [lower for upper, lower in columns if all(map(str.strip, upper))]
    if len(below) <= _FEW_ROWS and all(
        sum(not cell.strip() for cell in row) > 1 for row in zip(*filled, strict=True)
    ):
        return bool(filled)
    if any(cell.strip() and cell in upper for upper, lower in columns for cell in lower):
        return False
    return any(
        not any(map(is_numeric_cell, upper))
        and all(map(is_numeric_cell, lower[int(len(lower) > 1 and not is_numeric_cell(lower[0])) :]))
        for upper, lower in columns
    )


_DELIMITERS = (",", ";", "\t", "|")
_LONGEST_HEADER = 1_000  # characters
_MIN_FITTING = 0.9  # of the cells have the delimiter as often as the header, or more often


def check_rows_in_cells(rows: Sequence[Sequence[str]], source: DataSource) -> None:
    """Check that the only column of a table, below the header, does not hold whole rows.

    Raises:
        DataError: HW114, the header and the cells below it are rows of several fields.
    """
    (header,), below = rows[0], [row[0] for row in rows[1:] if len(row) == 1]
    if not below or len(header) > _LONGEST_HEADER or source.requested_columns or source.options.quoting:
        return
    for delimiter in _DELIMITERS:
        names = header.split(delimiter)
        prose = any(name.startswith(" ") for name in names)  # `text, in words`
        if len(names) < 2 or prose or not has_usual_name_in(names):
            continue
        fitting = sum(cell.count(delimiter) >= len(names) - 1 for cell in below)
        if fitting >= _MIN_FITTING * len(below):
            raise source.error(
                "HW114",
                f"one column named {header!r:.80}, whose cells hold whole rows",
                expected="a field for each column",
                advice=f"remove the quotation marks around each row, or split the column at {delimiter!r}",
            )
