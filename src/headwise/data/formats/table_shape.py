"""What is wrong with the shape of a table: a second table, or totals, below its rows and a blank line; or
one column whose cells hold whole rows, as where quotation marks stand around each row.

Codes: HW114, HW129.
"""

from collections.abc import Iterator, Sequence
from itertools import chain

from headwise.data.columns.cell_values import as_text
from headwise.data.columns.file_source import DataSource, Record, look_ahead
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
                problem = "a second table, or totals, below a blank line"
                expected = "one table with one header"
                advice = "write it to a file of its own, or remove it"
                source.report_error("HW129", problem, number, expected=expected, advice=advice)
                return
        if looking and len(above) < _MOST_ROWS:
            above.append(cells)
        previous = row
        yield row


def without_totals(records: Iterator[Record], source: DataSource) -> Iterator[Record]:
    """The records but for totals in the last one, which are reported (HW129): a cell says so, and another
    one is unlike those of its column."""
    above, last = list[Sequence[str]](), list[Record]()
    for record in records:
        yield from last
        if last and len(above) < _MOST_ROWS:
            above.append([*map(as_text, last[0].fields.values())])
        last = [record]
    cells = [as_text(value) for record in last for value in record.fields.values()]
    if any(map(is_summary, cells)) and _is_unlike(above, cells):
        source.report_error("HW129", "a row of totals", last[0].line, expected="a text", advice="remove it")
    else:
        yield from last


def _is_unlike(above: Sequence[Sequence[str]], row: Sequence[str]) -> bool:
    """Whether a cell of a row is empty where none above is, a number where none above is, or none of the
    few values above."""
    even = [cells for cells in above if len(cells) == len(row)]
    return len(even) >= _LEAST_ROWS and any(
        (not cell.strip() and all(map(str.strip, upper)))
        or (is_numeric_cell(cell) and not any(map(is_numeric_cell, upper)))
        or (is_numeric_cell(cell) and cell not in upper and 4 * len({*upper}) <= len(upper))
        for cell, upper in zip(row, zip(*even, strict=True), strict=True)
    )


_SUMMARIES = {
    *("total", "totals", "grand total", "subtotal", "sum", "count", "average", "mean", "summe"),
    *("gesamt", "gesamtsumme", "gesamtergebnis", "anzahl", "somme", "total général", "suma", "totale"),
    *("toplam", "итого", "всего", "合计", "总计", "合計"),
}
"""What stands for a text where a table is summed up, in lower case."""


def is_summary(cell: str) -> bool:
    """Whether a cell says that its row sums up a table."""
    return cell.strip(" :.").casefold() in _SUMMARIES


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
            problem = f"one column named {header!r:.80}, whose cells hold whole rows"
            advice = f"remove the quotation marks around each row, or split the column at {delimiter!r}"
            raise source.error("HW114", problem, expected="a field for each column", advice=advice)
