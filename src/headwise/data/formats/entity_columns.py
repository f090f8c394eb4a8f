"""Tables with a column for each type of entities, whose cells hold these as the text has them:

text,PER,LOC
Tom met Ann in Rome,"Tom, Ann",Rome
"""

from collections.abc import Iterator, Sequence
from functools import partial

from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.columns.cell_values import as_text
from headwise.data.columns.column_names import (
    LABEL_NAMES,
    TEXT_NAMES,
    is_never_label,
    name_rank,
    normal_name,
)
from headwise.data.columns.file_source import DataSource, Record, fraction_true
from headwise.data.formats.listed_entities import located_entities, places_of_entity
from headwise.data.formats.record_fields import Flatten, Rows, field_names, usual_field, without_fields
from headwise.data.items.numeric_labels import is_missing_value

_ENTITIES = "entities"
"""The field of the entities that the records get."""

_TYPES = {
    *("per", "person", "persons", "people", "name", "names", "loc", "location", "locations", "place"),
    *("places", "org", "organization", "organizations", "organisation", "organisations", "company"),
    *("companies", "gpe", "misc", "product", "products", "event", "events", "city", "cities", "country"),
    *("countries", "money", "date", "dates", "time", "drug", "drugs", "disease", "diseases", "skill"),
    "skills",
}
_SEPARATOR = lazy_pattern(r"\s*[,;|\n]\s*")
_NEARLY_ALL = 0.9  # of the entities must be in their text


def is_header(names: Sequence[str]) -> bool:
    """Whether names may be those of such a table."""
    normal = {*map(normal_name, names)}
    return not _TYPES.isdisjoint(normal) and not normal.isdisjoint(TEXT_NAMES)


def recognise(rows: Rows) -> Flatten | None:
    """The reader of a column of texts and of those of the types: all that are left beside ids, dates and
    the like, one of them with a usual name, if what they hold is in the text and no column has labels."""
    names = field_names(rows)
    if (text := usual_field(names, TEXT_NAMES)) is None:
        return None
    full = [name for name in names if name != text and any(_parts(row.get(name)) for row in rows)]
    usual = [name for name in full if normal_name(name) in _TYPES]
    types = [name for name in full if name in usual or not is_never_label(name)]
    if not usual or any(name_rank(name, LABEL_NAMES) is not None for name in types):
        return None
    for name in types:
        pairs = [(as_text(row.get(text)), part) for row in rows for part in _parts(row.get(name))]
        fits = [
            part != content.strip() and bool(places_of_entity(content, part)) for content, part in pairs
        ]
        if fraction_true(fits) < _NEARLY_ALL:
            return None
    return partial(_texts_with_spans, text=text, types=types)


def _parts(cell: object) -> list[str]:
    """The entities in a cell: of a list, or separated by commas, semicolons or bars."""
    parts = [*map(as_text, cell)] if isinstance(cell, list) else _SEPARATOR.split(as_text(cell).strip())
    return [part for part in parts if part and not is_missing_value(part)]


def _texts_with_spans(
    records: Iterator[Record], source: DataSource, text: str, types: Sequence[str]
) -> Iterator[Record]:
    """The records with spans of the entities in these columns."""
    source.notes.append(
        f"the entities of {text!r} are in columns of their types: {', '.join(map(repr, types))}"
    )
    return located_entities((_with_entities(record, types) for record in records), source, text, _ENTITIES)


def _with_entities(record: Record, types: Sequence[str]) -> Record:
    entities = {name: _parts(record.fields.get(name)) for name in types}
    return record._replace(fields={**without_fields(record.fields, *types), _ENTITIES: entities})
