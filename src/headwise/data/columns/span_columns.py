"""Tables with a row for each span of a text, whose label is not that of the text.

Code: HW131.
"""

from collections.abc import Sequence

from headwise.data.columns.column_contents import Column
from headwise.data.columns.column_names import normal_name
from headwise.data.columns.file_source import DataSource
from headwise.data.errors import DataError

# fmt: off
_OFFSETS = (
    ("start", "end"), ("begin", "end"), ("from", "to"), ("start_offset", "end_offset"),
    ("start_char", "end_char"), ("span_start", "span_end"), ("start_pos", "end_pos"),
    ("char_start", "char_end"), ("begin_offset", "end_offset"), ("start_index", "end_index"),
    ("start_idx", "end_idx"), ("start_position", "end_position"), ("start_token", "end_token"),
    ("token_start", "token_end"), ("start_word", "end_word"), ("offset", "length"),
)
# fmt: on
"""Usual names of the columns of offsets."""


def span_columns(columns: Sequence[Column], text: Column) -> tuple[str, str] | None:
    """The names of two columns that hold the offsets of a span of each text, or None."""
    by_name = {normal_name(column.name): column for column in columns}
    for names in _OFFSETS:
        if (first := by_name.get(names[0])) is None or (second := by_name.get(names[1])) is None:
            continue
        rows = zip(first.values, second.values, text.values, strict=True)
        if all(_fits(start, end, content) for start, end, content in rows if start.strip()):
            return first.name, second.name
    return None


def _fits(start: str, end: str, text: str) -> bool:
    start, end = (offset.strip().removesuffix(".0") for offset in (start, end))
    if not (start.isdecimal() and end.isdecimal()):
        return False
    return max(int(start), int(end)) <= len(text)


def span_rows_error(names: tuple[str, str], label: str, source: DataSource) -> DataError:
    """The error that each row of a table may name a span of its text."""
    return source.error(
        "HW131",
        f"{names[0]!r} and {names[1]!r} cut a part out of each text, to which {label!r} may belong",
        expected="a label for the whole text",
        advice=f"give --label-column {label!r} if it is one, --task tag if it is the type of that part",
    )
