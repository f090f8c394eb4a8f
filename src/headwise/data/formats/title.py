"""Titles above the header of a table in a spreadsheet, in the first cell of a separate row."""

from collections.abc import Sequence

from headwise.data.formats.header import has_header
from headwise.data.options import ReadOptions

_MOST = 10  # rows above the header


def title_rows(rows: Sequence[Sequence[str]], options: ReadOptions) -> int:
    """The number of title rows above the header of a table.

    At most the first cell of a title row is filled. The row after them must look like a header, with a
    distinct name for every column.
    """
    start = next((i for i, row in enumerate(rows[: _MOST + 1]) if any(map(str.strip, row[1:]))), 0)
    if not start or options.header is False:
        return 0
    requested = (options.text_column, options.label_column)
    if any(row[0].strip() in requested for row in rows[:start]):
        return 0
    names = {name.strip() for name in rows[start]} - {""}
    if len(names) < max(map(len, rows)):
        return 0
    return start if has_header(rows[start:], options) else 0
