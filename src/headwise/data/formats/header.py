"""Guess whether the first row of a table is a header."""

from collections.abc import Sequence

from headwise.data.joint import named_in
from headwise.data.names import LABEL_NAMES, TEXT_NAMES, names_pairs, normal_name
from headwise.data.options import ReadOptions


def has_header(rows: Sequence[Sequence[str]], options: ReadOptions) -> bool:
    """Guess whether the first row is a header.

    It is if the options name a column; if one of its cells is a usual column name and none recurs below; if
    it has no number but a column below it has only numbers; or if its cells are short and a column below it
    is running text.
    """
    requested = [name for name in (options.text_column, options.label_column) if name]
    if any(not part.isdecimal() for name in requested for part in named_in(name)):
        return True
    first, below = rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]
    columns = [[row[i] for row in below if row[i].strip()] for i in range(len(first))]
    if any(cell in column for cell, column in zip(first, columns, strict=True)):
        return False
    if any(normal_name(cell) in (*TEXT_NAMES, *LABEL_NAMES) for cell in first) or names_pairs(first):
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
