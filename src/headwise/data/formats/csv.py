"""Comma-separated values (RFC 4180) with any delimiter, and the dialects that programs write instead.

A file whose quotation marks cannot enclose fields has them as characters, or escapes them by a backslash;
some enclose fields in single marks: the dialect is guessed from the first lines where these leave no doubt.
Lines come decoded, see `headwise.data.files.text_lines`.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from headwise.core.errors import ConfigError
from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.columns.column_contents import Column
from headwise.data.columns.file_source import DataSource, fraction_true, look_ahead
from headwise.data.columns.reading_options import DEFAULT_READ_OPTIONS, ReadOptions
from headwise.data.errors import DataError
from headwise.data.files.text_lines import Line
from headwise.data.formats.csv_records import DELIMITERS, MARKS, ONE_COLUMN, Cells, Dialect, read_records
from headwise.data.formats.table_header import (
    has_header,
    has_usual_name_in,
    is_text_name,
    nameless_column,
    title_rows,
)

BACKSLASH = "\\"
MAJORITY = 0.8  # of the first rows must have the width of the header for lines to be a table
_SEPARATOR_LINE = "sep="
"""Begins a first line for Excel that declares the delimiter."""
SINGLE_QUOTES_NOTE = "single quotation marks enclose fields - override with --quoting none"
HEAD_LINES = 100
"""Number of lines by which the dialect of a table is guessed."""
_NEARLY_ALL, _FEWEST_QUOTED = 0.9, 3
"""Share and least number of the lines with a field in single marks where these enclose fields."""
_END = f"[{re.escape(DELIMITERS)}]"
_SINGLE_QUOTED = lazy_pattern(rf"(?:^|{_END}) *'(?:[^'\\]|''|\\.)*+' *(?=\r|{_END}|$)")
_ALL_QUOTED = lazy_pattern(rf'"(?:[^"]|"")*+"(?:({_END})"(?:[^"]|"")*+")(?:\1"(?:[^"]|"")*+")*')
_LEAST_ROWS = 5  # from which on rows of one width are no accident
_LEAST_CHARACTERS = 12  # of a running text, on average


def recognise(texts: Sequence[str]) -> bool:
    """Whether the lines have a header with a usual name, and most records as many fields as the header; or
    all their fields in quotation marks."""
    lines: list[Line] = list(enumerate(texts, start=1))
    rows = [cells for _, cells in read_cells(iter(lines), DataSource("", report=lambda error: None))]
    if not rows:
        return False
    if _ALL_QUOTED.fullmatch(texts[0]) and len({*map(len, rows)}) == 1 < len(rows[0]):
        return True
    above = title_rows(rows, DEFAULT_READ_OPTIONS)
    if above and has_usual_name_in(rows[above]):
        rows, lines = rows[above:], lines[above:]
    if len(rows[0]) == 1:
        return is_text_name(rows[0][0]) and len(rows) > 1 and "\t" not in texts[0]
    if nameless_column(rows[0], rows[1:]) and has_usual_name_in(rows[0]):
        return True
    if all(has_usual_name_in([name]) for name in rows[0]):
        return True  # whatever is wrong with the rows is reported when they are read
    even = [row for row in rows if len(row) == len(rows[0])]
    if fraction_true(len(row) == len(rows[0]) for row in rows) < MAJORITY:
        return False
    return guess_delimiter(lines) in lines[0][1] and has_header(even, DEFAULT_READ_OPTIONS)


def looks_like_rows(texts: Sequence[str]) -> bool:
    """Whether lines without a header look like rows of a table: all have as many fields, one column is
    running text, and another has few values, or nothing but numbers, dates or links."""
    errors: list[DataError] = []
    read = read_cells(iter([*enumerate(texts, start=1)]), DataSource("", report=errors.append))
    rows = [cells for _, cells in read]
    if errors or len({*map(len, rows)}) != 1 or len(rows[0]) < 2:
        return False
    if len(rows) < _LEAST_ROWS:
        return _are_few_rows(texts, rows)
    columns = [Column("", [*values], strings=True) for values in zip(*rows, strict=True)]
    telling = [column for column in columns if column.is_recurring or column.identifies]
    running = [c for c in columns if c.characters >= _LEAST_CHARACTERS and c not in telling]
    return bool(running and telling)


def _are_few_rows(texts: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether a few lines look like rows: no blank is after a delimiter, as in prose; a single line also
    needs a field in quotation marks."""
    if any(cell.startswith(" ") for cells in rows for cell in cells[1:]):
        return False
    return len(rows) > 1 or any(f'{delimiter}"' in text for text in texts for delimiter in DELIMITERS)


def read_cells(lines: Iterator[Line], source: DataSource) -> Iterator[Cells]:
    """The rows of a csv file, without blank lines."""
    options, declared = source.options, None
    head, lines = look_ahead(lines, count=HEAD_LINES)
    if head and (first := head[0][1].removesuffix("\r").strip('"'))[:-1].lower() == _SEPARATOR_LINE:
        next(lines)
        head, declared = head[1:], first[-1]
    requested = declared if options.delimiter is None else options.delimiter
    delimiter = (requested or "").replace("\\t", "\t")
    if requested is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise ConfigError(f"delimiter {delimiter!r}; expected one character, such as ';' or '\\t'")
    if options.escape is not None and (len(options.escape) != 1 or options.escape in f'"{delimiter}\r\n'):
        raise ConfigError(f"escape {options.escape!r}; expected one character, such as '\\'")
    mark = MARKS.get(options.quoting or "double", '"')
    if options.quoting is None and has_single_quotes(head, delimiter, options):
        source.notes.append(SINGLE_QUOTES_NOTE)
        mark = "'"
    dialect = _guess_dialect(head, delimiter, options, mark)
    if not delimiter and dialect.delimiter not in (",", ONE_COLUMN):
        source.notes.append(f"fields are separated by {dialect.delimiter!r} - override with --delimiter")
    if not dialect.quoted and options.quoting is None:
        source.notes.append("quotation marks are characters of the texts - override with --quoting double")
    if dialect.escape and options.escape is None:
        kind = "double" if mark == '"' else "single"
        source.notes.append(
            f"a backslash before a quotation mark escapes it - override with --quoting {kind}"
        )
    source.layout.delimiter = dialect.delimiter
    yield from read_records(lines, dialect, source)


def has_single_quotes(head: list[Line], delimiter: str, options: ReadOptions) -> bool:
    """Whether nearly every line has a field in single quotation marks, and the rows are at least as even
    with these as without, and whole; or several lines have one, and only these marks make all rows even."""
    head = [line for line in head if line[1].strip()]
    enclosed = sum(_SINGLE_QUOTED.search(text) is not None for _, text in head)
    if enclosed < _FEWEST_QUOTED:
        return False
    dialect = _guess_dialect(head, delimiter, options, "'")
    single, double = _examine(head, dialect), _examine(head, _guess_dialect(head, delimiter, options))
    if not single.agreement or single.exceptions > double.exceptions:
        return False
    if enclosed < _NEARLY_ALL * (len(head) - 1) and (single.exceptions or not double.exceptions):
        return False
    rows = read_records(iter(head), dialect, DataSource("", report=lambda error: None))
    return not any(cell.lstrip(" ").startswith("'") for _, cells in rows for cell in cells)


def guess_delimiter(head: list[Line], mark: str = '"', escape: str | None = None) -> str:
    """The delimiter for which most rows have the same number of fields, at least two; of several the one
    that fewest blanks are after, as after a comma in prose."""
    delimiters = [delimiter for delimiter in DELIMITERS if any(delimiter in text for _, text in head)]
    dialects = [Dialect(delimiter, escape=escape, mark=mark) for delimiter in delimiters or DELIMITERS[:1]]
    blanks = {dialect: sum(text.count(f"{dialect.delimiter} ") for _, text in head) for dialect in dialects}
    return max(blanks, key=lambda tried: (_examine(head, tried).agreement, -blanks[tried])).delimiter


class _Fit(NamedTuple):
    """The fraction of the readable rows that have the usual number of fields (0 for one), and the rest."""

    agreement: float
    exceptions: int


def _examine(head: Sequence[Line], dialect: Dialect) -> _Fit:
    errors: list[DataError] = []
    rows = list(islice(read_records(iter(head), dialect, DataSource("", report=errors.append)), HEAD_LINES))
    # A quoted field may go on below the lines that are looked at.
    last = errors[-1] if errors and len(head) >= HEAD_LINES else None
    cut = last is not None and last.code == "HW114" and "never" in last.problem
    counts = Counter(len(cells) for _, cells in rows)
    common, times = counts.most_common(1)[0] if counts else (0, 0)
    exceptions = len(rows) - times + len(errors) - cut
    return _Fit(times / len(rows) if common > 1 else 0.0, exceptions)


def _guess_dialect(head: list[Line], delimiter: str, options: ReadOptions, mark: str = '"') -> Dialect:
    """The dialect of the first lines, as far as the options leave it open."""
    quoted = options.quoting != "none"
    dialect = Dialect(
        delimiter or guess_delimiter(head, mark, options.escape), quoted, options.escape, mark
    )
    if not delimiter and not _examine(head, dialect).agreement:  # no row can be read without escapes
        dialect = replace(dialect, delimiter=guess_delimiter(head, mark, BACKSLASH))
    if not delimiter and head and _is_one_column(head, dialect):
        return replace(dialect, delimiter=ONE_COLUMN)
    if options.quoting is not None or options.escape is not None:
        return dialect
    if not (exceptions := _examine(head, dialect).exceptions):
        return dialect
    if any(f"{BACKSLASH}{mark}" in text for _, text in head):
        escaped = replace(dialect, escape=BACKSLASH)
        if (fit := _examine(head, escaped)).agreement and fit.exceptions < exceptions:
            return escaped
    # In a text a comma is common, so that only other delimiters prove that marks enclose nothing.
    for end in delimiter or DELIMITERS:
        if end in ",;" or not any(end in text for _, text in head):
            continue
        raw = Dialect(end, quoted=False)
        fit = _examine(head, raw)
        if fit.agreement and not fit.exceptions and _has_raw_marks(head, end):
            return raw
    return dialect


def _is_one_column(head: Sequence[Line], dialect: Dialect) -> bool:
    """Whether the header is a single usual name, and no other delimiter divides nearly all lines alike."""
    first = head[0][1].strip(" \r")
    if not is_text_name(first.strip(dialect.mark)):
        return False
    below = head[1:]
    return _examine(below, dialect).agreement < 0.9


def _has_raw_marks(head: Sequence[Line], delimiter: str) -> bool:
    """Whether several fields begin with a quotation mark and have more, and most of these do not end with
    one. (A mark alone in a field may end a field that began on a line before.)"""
    fields = [cell for _, text in head for cell in text.removesuffix("\r").split(delimiter)]
    opened = [cell for cell in fields if cell.startswith('"') and len(cell) > 1]
    closed = [cell for cell in opened if cell.endswith('"')]
    return len(opened) > 1 and 2 * len(closed) < len(opened)
