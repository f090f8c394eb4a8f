"""Guess whether the first row of a table is a header.

Titles above the header of a table in a spreadsheet, in the first cell of a separate row.

The two rows below the header of a table written by Orange: the types and the roles of the columns.
"""

from collections.abc import Sequence

from headwise.data.columns.column_names import (
    LABEL_NAMES,
    TEXT_NAMES,
    is_pair_header,
    joined_column_names,
    normal_name,
)
from headwise.data.columns.reading_options import ReadOptions


def has_header(rows: Sequence[Sequence[str]], options: ReadOptions) -> bool:
    """Guess whether the first row is a header.

    It is if the options name a column; if one of its cells is a usual column name and none recurs below; if
    it has no number but a column below it has only numbers; or if its cells are short and a column below it
    is running text.
    """
    tabular = (column.name for column in options.tabular_columns)
    requested = [name for name in (options.text_column, options.label_column, *tabular) if name]
    if any(not part.isdecimal() for name in requested for part in joined_column_names(name)):
        return True
    first, below = rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]
    columns = [[row[i] for row in below if row[i].strip()] for i in range(len(first))]
    if any(cell in column for cell, column in zip(first, columns, strict=True)):
        return False
    if any(normal_name(cell) in (*TEXT_NAMES, *LABEL_NAMES) for cell in first) or is_pair_header(first):
        return True
    full = [cell for cell in first if cell.strip()]
    if not below or len(set(full)) < len(full):
        return False
    if any(map(_is_number, first)):
        return False
    pairs = [pair for pair in zip(first, columns, strict=True) if pair[0].strip() and pair[1]]
    if any(all(map(_is_number, column)) for _, column in pairs):
        return True
    short = all(len(cell.split()) <= 3 for cell in first)
    return short and any(len(cell.split()) <= 2 and _mean_words(column) >= 5 for cell, column in pairs)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _mean_words(column: Sequence[str]) -> float:
    return sum(len(cell.split()) for cell in column) / len(column)


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


_TYPES = {
    *("c", "continuous", "numeric", "n", "d", "discrete", "categorical", "s", "string", "text"),
    *("t", "time", "basket"),
}
_ROLES = {"class", "c", "meta", "m", "ignore", "i", "skip", "weight", "w"}


def has_type_rows(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the second and third row of a table declare types and roles as Orange does."""
    if len(rows) < 3 or not 1 < len(rows[0]) == len(rows[1]) == len(rows[2]):
        return False
    kinds = [cell.strip() for cell in rows[1]]
    roles = [part for cell in rows[2] for part in cell.split()]
    if not roles and all(len(kind) == 1 for kind in kinds):  # may be letters of a text
        return False
    return all(kind in _TYPES for kind in kinds) and all(
        part in _ROLES or "=" in part[1:] for part in roles
    )
