"""Convert rows of cells to records with named fields: find the header, and check the rows."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, compress

from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.columns.column_names import LABEL_NAMES, TEXT_NAMES, clean_name, normal_name
from headwise.data.columns.file_source import DataSource, Record, look_ahead, most_true
from headwise.data.columns.reading_options import DEFAULT_READ_OPTIONS
from headwise.data.formats.csv_records import Cells
from headwise.data.formats.table_header import (
    caption_rows,
    has_header,
    has_type_rows,
    is_numeric_cell,
    is_rule,
    is_same_header,
    is_second_header,
    nameless_column,
    names_text_and_label,
    title_rows,
)
from headwise.data.formats.table_shape import check_rows_in_cells, first_table


def records_from_rows(rows: Iterator[Cells], source: DataSource) -> Iterator[Record]:
    """The rows as records, with fields named by the header.

    Without a header the fields are named by column number, from "1". A row that repeats the header, as
    where files were put together, is left out. `source.layout` gets the line of such a row, and the names
    of a header without rows.
    """
    head, rows = look_ahead(rows)
    if not head:
        return
    if above := title_rows([cells for _, cells in head], source.options):
        source.notes.append(_no_data(head[:above], "a title above the table"))
        for _ in range(above):
            next(rows)
        head = head[above:]
    line, first = head[0]
    header, sample = source.options.header, [cells for _, cells in head]
    declared = header is not False and has_type_rows(sample)
    if header is None:
        header = declared or has_header(sample, source.options)
        if header and not declared:
            _check_requested_header(sample, line, source)
        note = f"line {line} is a header" if header else "no header, columns are numbered"
        flag = "--no-header" if header else "--header"
        source.notes.append(f"{note} - override with {flag}")
    if header and len(first) == 1:
        check_rows_in_cells(sample, source)
    if header:
        if not first[-1].strip() and most_true(len(row) < len(first) for row in sample):
            first = first[:-1]  # a delimiter at the end of the header alone
        described, what = _described_rows(sample)
        above_data = 1 + described
        if described:
            source.notes.append(_no_data(head[1:above_data], what))
        if what == _RULE_BELOW:
            rows = ((number, [*map(str.strip, cells)]) for number, cells in rows)  # padded to one width
        for _ in range(above_data):
            next(rows)
        if nameless := nameless_column(first, sample[above_data:]):
            first = ["", *first] if nameless == "first" else [*first, ""]
            source.notes.append(f"the header has no name for the {nameless} column")
        names = _column_names(first, source)
        source.layout.header_line = line
        source.layout.empty_header = () if len(head) > above_data else tuple(names)
    else:
        names = [str(i) for i in range(1, len(first) + 1)]
    usual_names = sorted(map(normal_name, first)) if header else []
    longest_name = _LONGEST_NAME + (max(map(len, first)) if header else 0)
    check = SwallowedRows(sample[bool(header) :], len(names), source.layout.delimiter or ",")
    below = Counter(map(len, sample[1:])) if header else Counter()
    if sum(len(cells) > len(names) and check.fits(cells) for cells in sample) >= _LEAST_LONGER:
        source.notes.append("empty cells behind the last column are left out")
        rows = ((line, cells[: len(names)] if check.fits(cells) else cells) for line, cells in rows)
    for number, cells in first_table(rows, source):
        if cells == ["\x1a"]:  # the end of a file of DOS
            continue
        if len(cells) == 1 < len(names) and _ROW_COUNT.fullmatch(cells[0].strip()):
            source.notes.append(f"line {number} is no data: {cells[0].strip()}")
            continue
        if len(cells) != len(names):
            uneven = len(below) == 1 and len(cells) in below
            _report_width(cells, len(names), number, line, source, uneven=uneven)
        elif (short := max(map(len, cells)) <= longest_name) and header and is_same_header(first, cells):
            source.layout.repeated.append(number)
        elif short and number != line and _is_other_header(usual_names, cells):
            if header and [*map(normal_name, cells)] == [*map(normal_name, first)]:
                source.layout.repeated.append(number)
                continue
            problem = f"a row of column names: {', '.join(map(repr, cells[:8]))}"
            expected = "one table with one header"
            advice = "put files together by the names of their columns, or give them one by one"
            source.report_error("HW129", problem, number, expected=expected, advice=advice)
        elif swallowed := check.lines_in(cells) if source.checks_quotes else 0:
            _report_swallowed(swallowed, number, source)
        else:
            yield Record(number, dict(zip(names, cells, strict=True)))


_LEAST_LONGER = 3  # rows with empty cells behind the last column, from which on they are a habit
_RULE_BELOW = "a rule below the header"


def _described_rows(sample: Sequence[Sequence[str]]) -> tuple[int, str]:
    """The number of the rows below the header that are no data, and what they are."""
    if has_type_rows(sample):
        return 2, "Orange's kinds and roles of the columns"
    if len(sample) > 1 and is_rule(sample[1]):
        return 1, _RULE_BELOW
    if captions := caption_rows(sample):
        return captions, "a survey's questions, below the header"
    return int(is_second_header(sample)), "a second header"


def _no_data(rows: Sequence[Cells], what: str) -> str:
    """The note that one or several rows are no data."""
    between = "to" if len(rows) > 2 else "and"
    lines = f"s {rows[0][0]} {between} {rows[-1][0]} are" if len(rows) > 1 else f" {rows[0][0]} is"
    return f"line{lines} no data: {what}"


_USUAL_NAMES = frozenset((*TEXT_NAMES, *LABEL_NAMES))
_LONGEST_NAME = 64  # characters of a usual name, or more than those of the header, invisible ones included
_ROW_COUNT = lazy_pattern(r"\([\d,]+ rows?(?: affected)?\)")
"""What consoles of databases write below a table."""


def _check_requested_header(sample: Sequence[Sequence[str]], line: int, source: DataSource) -> None:
    """Check that the first row is a header or looks like one if columns are requested by name."""
    requested = {name: normal_name(name) for name in source.requested_columns if not name.isdecimal()}
    present = {*map(normal_name, sample[0])}
    if not requested or not present.isdisjoint(requested.values()):
        return
    if has_header(sample, DEFAULT_READ_OPTIONS):
        return
    shown = ", ".join(repr(cell[:40]) for cell in sample[0][:4])
    raise source.error(
        "HW111",
        f"there is no column {next(iter(requested))!r}, and no header: the first row is {shown}",
        line,
        expected="a row with the names of the columns",
        advice="write it above the rows (as files have it that are read together with this one), or give "
        "--no-header and columns by number, such as --text-column 1",
    )


def _column_names(first: Sequence[str], source: DataSource) -> list[str]:
    """A distinct name for each column: a column without one is named by its number, and the second of two
    columns of a name gets a number. `source.layout.headings` has the names as they stand in the file."""
    headings = [clean_name(name) for name in first]
    names: dict[str, None] = {}  # in their order
    taken, numbers = {*headings}, dict[str, int]()
    for number, heading in enumerate(headings, start=1):
        name = heading
        if not heading or heading in names:
            stem = heading or f"column {number}"
            name = _free_name(stem if heading else str(number), stem, taken, numbers)
            source.layout.headings[name] = heading
        if heading and name != heading:
            source.layout.duplicates[name] = heading
            source.layout.duplicates[heading] = heading
        taken.add(name)
        names[name] = None
    return list(names)


def _free_name(first: str, stem: str, taken: set[str], numbers: dict[str, int]) -> str:
    """The first of `first`, `stem_2`, ... that is not taken; `numbers` has the next of each stem."""
    name, number = first, numbers.get(stem, 2)
    while name in taken:
        name, number = f"{stem}_{number}", number + 1
    numbers[stem] = number
    return name


def _is_other_header(header_names: Sequence[str], cells: Sequence[str]) -> bool:
    """Whether a row holds nothing but names of columns: those of the header in another order, or usual ones
    of a text and a label. (The names of the header are normal ones, and sorted.)"""
    if len(cells) < 2:
        return False
    shortest = normal_name(min(cells, key=len))
    if shortest not in _USUAL_NAMES and shortest not in header_names:
        return False  # long cells need not be looked at
    names = [normal_name(cell) for cell in cells]
    if header_names and sorted(names) == header_names and len({*names}) == len(names):
        return not _USUAL_NAMES.isdisjoint(names)
    return _USUAL_NAMES.issuperset(names) and names_text_and_label(cells)


def _report_width(
    cells: Sequence[str], expected: int, line: int, first: int, source: DataSource, *, uneven: bool
) -> None:
    """Report a row of another width than the first; `uneven` if all rows below a header have this width."""
    width = len(cells)
    if lines := max(cell.count("\n") for cell in cells):
        advice = (
            f"a quoted field here goes on for {lines + 1} lines; if its quotation mark is a character, "
            "give --quoting none"
        )
    elif uneven:
        advice = f"all rows have {width}: write a name for each column, also for the numbers of the rows"
    elif source.layout.delimiter == "\t" and any(cell.count('"') % 2 for cell in cells):
        advice = "if quotation marks enclose fields with tabs or line ends in them, give --quoting double"
    elif source.table:
        advice = "empty the cells beside the table, or remove them"
    else:
        advice = "a field that holds the delimiter or a line end has to stand in quotes in a csv file"
    problem = f"a row of {width} field{'s' * (width != 1)}"
    source.report_error("HW110", problem, line, expected=f"{expected} as in line {first}", advice=advice)


def _report_swallowed(lines: int, number: int, source: DataSource) -> None:
    source.report_error(
        "HW114",
        f"a quoted field of {lines} lines, to line {number + lines - 1}, which are rows of the table",
        number,
        expected="a quotation mark that ends in its own row",
        advice="remove the stray quotation marks in the first and last of these lines, or give --quoting "
        "none where marks are characters, --quoting double where the text is meant so",
    )


LEAST_ROWS = 4
"""Least number of lines that are rows where no column tells by its values."""
LEAST_LINES = 5
"""Least number of lines of a field of a table with one column."""
_MOST_MULTILINE = 2  # fields of several lines in a table of one column, above which these are usual
_LARGE = 10  # rows of a sample that show which values are usual
_FRACTION = 0.8  # of the lines must be rows: others may have a quoted delimiter
_SHORT = 3  # words of a value that recurs


class SwallowedRows:
    """Recognises records whose quoted field holds rows of the table, by the first rows below the header."""

    def __init__(self, rows: Sequence[Sequence[str]], width: int, delimiter: str):
        self.width, self.delimiter = width, delimiter
        plain = [row for row in rows if len(row) == width and not any("\n" in cell for cell in row)]
        self.large = len(plain) >= _LARGE
        self.multiline = len(rows) - len(plain)
        self.often_multiline = 4 * self.multiline > len(rows)
        self.words = range(0)
        self.empty = [width > 1 and not any(map(str.strip, column)) for column in zip(*plain, strict=True)]
        self.profiles: list[Callable[[str], bool] | None] = []
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

    def fits(self, cells: Sequence[str]) -> bool:
        """Whether the cells of a row are like those of the table, and all cells behind them are empty."""
        outside = [*cells[self.width :], *compress(cells, self.empty)]
        return len(cells) >= self.width and not any(map(str.strip, outside)) and self._fits(cells)

    def _are_texts(self, lines: Sequence[str]) -> bool:
        """Whether lines are like the texts of the table, of which nearly none has several lines."""
        usual = self.large and self.multiline <= _MOST_MULTILINE and len(lines) >= LEAST_LINES
        return usual and all(len(line.split()) in self.words for line in lines)

    def _are_rows(self, cells: Sequence[str], column: int, lines: Sequence[str]) -> bool:
        if self.often_multiline and not any(self.profiles):
            return False  # as in a table of code, whose lines may have as many commas as its rows
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
        return all(profile is None or profile(cell) for cell, profile in pairs)


def _profile(cells: Sequence[str]) -> Callable[[str], bool] | None:
    """Whether a cell is like those of a column that holds numbers or few values; None for other columns."""
    full = [cell.strip() for cell in cells if cell.strip()]
    if full and all(map(is_numeric_cell, full)):
        return is_numeric_cell
    values = {*full}
    few = 2 * len(values) <= len(full) and all(len(value.split()) <= _SHORT for value in values)
    return (lambda cell: cell.strip() in values) if full and few else None
