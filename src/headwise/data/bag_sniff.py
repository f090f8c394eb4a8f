"""Recognise files of bags of instances."""

from collections.abc import Sequence
from itertools import islice

from headwise.data.bags import BAG_LABEL_NAMES, BAG_NAMES, is_uci, parse_number
from headwise.data.formats.csv import read_cells
from headwise.data.names import normal_name
from headwise.data.options import ReadOptions
from headwise.data.source import Source

_LOOKED_AT = 100  # rows
_FEWEST = 3  # features of a file whose columns have no names


def looks_like_bags(lines: Sequence[str], delimiter: str | None = None) -> str | None:
    """Why lines look like a file of labelled bags, as text for the user; None if they do not.

    In such a file no column is text: all columns but those of bags and labels are numbers.

    Args:
        lines: The first lines, without their line ends.
        delimiter: The field delimiter, if it is known.
    """
    source = Source("", ReadOptions(delimiter=delimiter), lambda _: None)
    rows = [cells for _, cells in islice(read_cells(iter(list(enumerate(lines, 1))), source), _LOOKED_AT)]
    if len(rows) < 2 or len({len(row) for row in rows}) > 1 or len(rows[0]) < 3:
        return None
    if all(map(is_uci, rows)):
        return "its rows are those of UCI's Musk data"
    names = [normal_name(name) for name in rows[0]]
    bag, label = (
        next((names.index(name) for name in usual_names if name in names), None)
        for usual_names in (BAG_NAMES, BAG_LABEL_NAMES)
    )
    if bag is not None and label is not None:
        rest = [place for place in range(len(names)) if place not in (bag, label)]
        # Some values may be missing; reading the file reports these.
        number_counts = [sum(_is_number(row[place]) for row in rows[1:]) for place in rest]
        numbers = 2 * min(number_counts) > len(rows) - 1
        return f"it has the column {rows[0][bag]!r}, and else numbers" if numbers else None
    if len(names) < 2 + _FEWEST or not all(_is_number(cell) for row in rows for cell in row[2:]):
        return None
    # Rows of one bag follow each other, with one label.
    pairs = [(row[0], row[1]) for row in rows]
    return "all its columns but two are numbers" if len(set(pairs)) < len(pairs) else None


def _is_number(cell: str) -> bool:
    return parse_number(cell) is not None
