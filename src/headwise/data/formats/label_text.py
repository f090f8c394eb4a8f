"""`label<TAB>text` or `label text`: the label is the part before the first separator."""

import re
from collections.abc import Iterator, Sequence

from headwise.core.errors import ConfigError
from headwise.data.columns.reading_options import DEFAULT_READ_OPTIONS
from headwise.data.files.file_source import DataSource, Record, look_ahead, values_recur
from headwise.data.files.text_lines import Line, without_returns
from headwise.data.formats.table_header import has_header

_NUMBER = re.compile(r"-?\d+ ")


def recognise(texts: Sequence[str]) -> bool:
    """Whether lines look like a label and a text: a few short labels, then a tab, and no further columns;
    or a number, then a space."""
    if not all("\t" in text for text in texts):
        return all(map(_NUMBER.match, texts)) and values_recur(text.split()[0] for text in texts)
    rows = [text.split("\t") for text in texts]
    table = has_header(rows, DEFAULT_READ_OPTIONS) or all(len(row) == len(rows[0]) > 2 for row in rows)
    first = [row[0] for row in rows]
    return not table and max(len(cell.split()) for cell in first) <= 3 and values_recur(first)


def read_records(lines: Iterator[Line], source: DataSource) -> Iterator[Record]:
    """One record per line, without blank lines.

    The separator is a tab if all of the first lines have one, otherwise a space. Further separators belong
    to the text.
    """
    separator = source.options.delimiter
    if separator is None:
        head, lines = look_ahead(lines, count=100)
        tabs = all("\t" in text for _, text in head if text.strip())
        separator = "\t" if tabs else " "
    separator = separator.replace("\\t", "\t")
    if not separator:
        raise ConfigError("delimiter ''; expected what stands between label and text, such as '\\t'")
    for number, text in without_returns(lines):
        if not text.strip(" "):
            source.blank += 1
            continue
        label, matched, rest = text.partition(separator)
        if matched:
            yield Record(number, {"label": label, "text": rest})
        else:
            source.report_error(
                "HW120",
                f"a line without a {'tab' if separator == chr(9) else repr(separator)}",
                number,
                expected="a label, the separator, and a text",
                advice="give --delimiter, or --format text if there are no labels",
            )
