"""A second table, or totals, below the rows of a table and a blank line."""

from collections.abc import Iterator, Sequence
from itertools import chain

from headwise.data.columns.file_source import DataSource, look_ahead
from headwise.data.formats.csv_records import Cells
from headwise.data.formats.table_header import is_numeric_cell

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
        if looking and above and number > previous[0] + 1 + sum(cell.count("\n") for cell in previous[1]):
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
