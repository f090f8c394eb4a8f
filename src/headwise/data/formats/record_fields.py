"""The fields of records: their names, and the lists and objects in them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from headwise.core.config import JsonMapping, JsonObject
from headwise.data.columns.column_names import most_usual_column
from headwise.data.columns.file_source import DataSource, Record

Rows = Sequence[Mapping[str, Any]]
"""The fields of the first records of a file."""

Flatten = Callable[[Iterator[Record], DataSource], Iterator[Record]]
"""Makes records with a text, and with its label, labels or spans, of those of a layout. Invalid ones are
reported and left out."""

Recognise = Callable[[Rows], Flatten | None]
"""The function that flattens the records of a layout, if the first ones have it; else None."""


def field_names(rows: Rows) -> list[str]:
    """The names of the fields of all records."""
    return [*dict.fromkeys(name for row in rows for name in row)]


def usual_field(names: Sequence[str], usual: tuple[str, ...]) -> str | None:
    """The name that comes first in `usual`, or None."""
    place = most_usual_column(names, usual)
    return None if place is None else names[place]


def without_fields(fields: JsonMapping, *names: str | None) -> JsonObject:
    """The fields without those of these names."""
    return {name: value for name, value in fields.items() if name not in names}


def list_of(value: object) -> list[Any]:
    """A list; an empty one for another value."""
    return value if isinstance(value, list) else []


def objects_of(value: object) -> list[JsonObject]:
    """The objects in a list; none of another value."""
    return [part for part in list_of(value) if isinstance(part, dict)]
