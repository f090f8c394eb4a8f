"""The title that people write above a table in a spreadsheet: in the first cell of a row of its own."""

from collections.abc import Sequence

from headwise.data.formats.header import has_header
from headwise.data.options import ReadOptions

_MOST = 10  # rows above the names of the columns


def title_rows(rows: Sequence[Sequence[str]], options: ReadOptions) -> int:
    """How many of the first rows of a table stand above the one that names its columns.

    In them nothing but the first cell is filled, if that; the row that follows looks like a header and has
    a name for every column, each another.
    """
    start = next((i for i, row in enumerate(rows[: _MOST + 1]) if any(map(str.strip, row[1:]))), 0)
    if not start or options.header is False:
        return 0
    asked = (options.text_column, options.label_column)
    if any(row[0].strip() in asked for row in rows[:start]):
        return 0
    names = {name.strip() for name in rows[start]} - {""}
    if len(names) < max(map(len, rows)):
        return 0
    return start if has_header(rows[start:], options) else 0
