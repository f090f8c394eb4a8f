"""Comma-separated values (RFC 4180) with any delimiter.

A field that begins with a quotation mark ends with one. Inside it, a doubled mark is a quotation mark, and
delimiters and line ends belong to the field. In other fields a quotation mark is an ordinary character.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from headwise.core.errors import ConfigError
from headwise.data.columns.reading_options import DEFAULT_READ_OPTIONS
from headwise.data.errors import DataError
from headwise.data.files.file_source import DataSource, look_ahead
from headwise.data.files.text_lines import Line
from headwise.data.formats.table_header import has_header

DELIMITERS = ",;\t|"
LONGEST_FIELD = 1 << 26  # characters; a longer quoted field has a stray quotation mark
MOST_FIELDS = 1 << 17  # of a record
_SEPARATOR_LINE = re.compile(
    r"sep=(.)\r?", re.IGNORECASE
)  # a first line for Excel that declares the delimiter
_INSIDE = re.compile(r'[^"]*+(?:""[^"]*+)*+')  # the rest of a quoted field on a line

Cells = tuple[int, list[str]]
"""The first line number of a record, and its fields."""


def recognise(texts: Sequence[str]) -> bool:
    """Whether the lines have a header with a usual name, and records of equally many fields."""
    lines: list[Line] = list(enumerate(texts, start=1))
    rows = [cells for _, cells in read_cells(iter(lines), DataSource("", report=lambda error: None))]
    even = bool(rows) and all(len(row) == len(rows[0]) > 1 for row in rows)
    return even and guess_delimiter(lines) in texts[0] and has_header(rows, DEFAULT_READ_OPTIONS)


def read_cells(lines: Iterator[Line], source: DataSource) -> Iterator[Cells]:
    """The rows of a csv file, without blank lines."""
    delimiter = source.options.delimiter
    head, lines = look_ahead(lines, count=100)
    if head and (declared := _SEPARATOR_LINE.fullmatch(head[0][1])):
        next(lines)
        delimiter = delimiter or declared[1]
    if delimiter is None:
        delimiter = guess_delimiter(head)
        if delimiter != ",":
            source.notes.append(f"fields are separated by {delimiter!r} - override with --delimiter")
    delimiter = delimiter.replace("\\t", "\t")
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise ConfigError(f"delimiter {delimiter!r}; expected one character, such as ';' or '\\t'")
    yield from _records(lines, delimiter, source)


def guess_delimiter(head: list[Line]) -> str:
    """The delimiter for which most rows have the same number of fields, at least two."""

    def agreement(delimiter: str) -> float:
        quiet = DataSource("", report=lambda error: None)
        rows = list(islice(_records(iter(head), delimiter, quiet), 100))
        counts = Counter(len(cells) for _, cells in rows)
        common, times = counts.most_common(1)[0] if counts else (0, 0)
        return times / len(rows) if common > 1 else 0.0

    return max(DELIMITERS, key=agreement)


def _records(lines: Iterator[Line], delimiter: str, source: DataSource) -> Iterator[Cells]:
    """The rows of a csv file with a known delimiter; invalid ones are reported and left out."""
    for number, text in lines:
        if '"' in text:
            try:
                yield number, _quoted_record(number, text, lines, delimiter, source.path)
            except DataError as error:
                source.report(error)
        elif text.strip(" \r"):
            if text.count(delimiter) >= MOST_FIELDS:
                source.report(too_many_fields_error(source.path, number))
                continue
            yield number, text.removesuffix("\r").split(delimiter)
        else:
            source.blank += 1


def too_many_fields_error(path: str, number: int) -> DataError:
    """The error for a record of more than `MOST_FIELDS` fields."""
    problem = f"a row of more than {MOST_FIELDS:,} fields"
    return DataError("HW110", problem, expected="a table", path=path, line=number)


def _quoted_record(number: int, text: str, lines: Iterator[Line], delimiter: str, path: str) -> list[str]:
    """The fields of a record that starts with the line `text` and may take more `lines`."""
    cells, at = [], 0
    while True:
        if not text.startswith('"', at):
            end = text.find(delimiter, at)
            if end < 0:
                return [*cells, text[at:].removesuffix("\r")]
            cells.append(text[at:end])
            at = end + 1
            continue
        opening, parts, length = (number, at + 1), [], 0
        at += 1
        while True:
            inside = _INSIDE.match(text, at)
            end = inside.end() if inside else at
            parts.append(text[at:end].replace('""', '"'))
            if end == len(text):  # the field goes on in the next line
                length += len(parts[-1])
                following = next(lines, None)
                if following is None or length > LONGEST_FIELD:
                    raise DataError(
                        "HW114",
                        "a quotation mark that is never closed",
                        expected='a closing " before the end of the file',
                        advice='write a " inside a quoted field as ""',
                        path=path,
                        line=opening[0],
                        column=opening[1],
                    )
                parts.append("\n")
                (number, text), at = following, 0
            else:
                at = end + 1
                break
        cells.append("".join(parts))
        if len(cells) > MOST_FIELDS:
            raise too_many_fields_error(path, number)
        if at == len(text) or (at == len(text) - 1 and text[at] == "\r"):
            return cells
        if text[at] != delimiter:
            raise DataError(
                "HW114",
                f"{text[at]!r} after a closing quotation mark",
                expected=f"{delimiter!r} or the end of the line",
                advice='write a " inside a quoted field as ""',
                path=path,
                line=number,
                column=at + 1,
            )
        at += 1
