"""Find quoted fields that hold whole rows, because a stray quotation mark opened them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from headwise.data.formats.table_header import is_number

LEAST_ROWS = 4
"""Least number of lines that are rows where no column tells by its values."""
LEAST_LINES = 5
"""Least number of lines of a field of a table with one column."""
_MOST_MULTILINE = 2  # fields of several lines in a table of one column, above which these are usual
_LARGE = 10  # rows of a sample that show which values are usual
_FRACTION = 0.8  # of the lines must be rows: others may have a quoted delimiter
_SHORT = 3  # words of a value that recurs


@dataclass(frozen=True)
class _Profile:
    """What the cells of a column have in common: they are numbers, or some of few values."""

    numbers: bool
    values: frozenset[str]

    def fits(self, cell: str) -> bool:
        return is_number(cell) if self.numbers else cell.strip() in self.values


class SwallowedRows:
    """Recognises records whose quoted field holds rows of the table.

    Args:
        rows: The first rows below the header.
        width: The number of columns.
        delimiter: What separates the fields of a line.
    """

    def __init__(self, rows: Sequence[Sequence[str]], width: int, delimiter: str):
        self.width, self.delimiter = width, delimiter
        plain = [row for row in rows if len(row) == width and not any("\n" in cell for cell in row)]
        self.large = len(plain) >= _LARGE
        self.multiline = len(rows) - len(plain)
        self.words = range(0)
        self.profiles: list[_Profile | None] = []
        if width == 1 and plain:
            counts = [len(row[0].split()) for row in plain]
            self.words = range(min(counts), max(counts) + 1)
        elif plain:
            self.profiles = [_profile([row[column] for row in plain]) for column in range(width)]

    def lines_in(self, cells: Sequence[str]) -> int:
        """The number of rows that a record holds, or 0 if it is one row."""
        for column, cell in enumerate(cells):
            if "\n" in cell:
                lines = cell.removesuffix("\n").split("\n")
                if self._are_texts(lines) if self.width == 1 else self._are_rows(cells, column, lines):
                    return len(lines)
        return 0

    def _are_texts(self, lines: Sequence[str]) -> bool:
        """Whether lines are like the texts of the table, of which nearly none has several lines."""
        usual = self.large and self.multiline <= _MOST_MULTILINE and len(lines) >= LEAST_LINES
        return usual and all(len(line.split()) in self.words for line in lines)

    def _are_rows(self, cells: Sequence[str], column: int, lines: Sequence[str]) -> bool:
        rows = [*self._rows(cells, column, lines)]
        fitting = sum(len(row) == self.width and self._fits(row) for row in rows)
        least = 2 if any(self.profiles) else LEAST_ROWS
        return len(rows) >= least and fitting >= (_FRACTION * len(rows) if len(rows) > 4 else len(rows))

    def _rows(self, cells: Sequence[str], column: int, lines: Sequence[str]) -> Iterator[list[str]]:
        """The lines of a field as rows; the first one begins with the cells before the field, the last one
        ends with those after it."""
        for number, line in enumerate(lines):
            row = line.removesuffix("\r").split(self.delimiter)
            before = cells[:column] if number == 0 else ()
            after = cells[column + 1 :] if number == len(lines) - 1 else ()
            yield [*chain(before, row, after)]

    def _fits(self, row: Sequence[str]) -> bool:
        pairs = zip(row, self.profiles, strict=False)
        return all(profile is None or profile.fits(cell) for cell, profile in pairs)


def _profile(cells: Sequence[str]) -> _Profile | None:
    full = [cell.strip() for cell in cells if cell.strip()]
    if not full:
        return None
    if all(map(is_number, full)):
        return _Profile(True, frozenset())
    values = frozenset(full)
    few = 2 * len(values) <= len(full) and all(len(value.split()) <= _SHORT for value in values)
    return _Profile(False, values) if few else None
