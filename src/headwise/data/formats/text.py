"""Plain text: one text per line, no labels. A blank line is an empty text."""

from collections.abc import Iterator

from headwise.data.files.file_source import DataSource, Record
from headwise.data.files.text_lines import Line, without_returns


def read_records(lines: Iterator[Line], source: DataSource) -> Iterator[Record]:
    """One record per line."""
    for number, text in without_returns(lines):
        yield Record(number, {"text": text})
