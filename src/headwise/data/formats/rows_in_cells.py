"""Tables of one column whose cells hold whole rows, as where quotation marks stand around each row.

Code: HW114.
"""

from collections.abc import Sequence

from headwise.data.columns.file_source import DataSource
from headwise.data.formats.table_header import has_usual_name_in

_DELIMITERS = (",", ";", "\t", "|")
_LONGEST_HEADER = 1_000  # characters
_MIN_FITTING = 0.9  # of the cells have the delimiter as often as the header, or more often


def check_rows_in_cells(rows: Sequence[Sequence[str]], source: DataSource) -> None:
    """Check that the only column of a table does not hold whole rows.

    Args:
        rows: The first rows, the header first.
        source: The file.

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
