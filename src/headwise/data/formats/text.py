"""Plain text: one text per line, no labels. A blank line is an empty text."""

from collections.abc import Iterator

from headwise.data.files import Line, without_returns
from headwise.data.source import Record, Source


def read_records(lines: Iterator[Line], source: Source) -> Iterator[Record]:
    """One record per line."""
    for number, text in without_returns(lines):
        yield Record(number, {"text": text})
