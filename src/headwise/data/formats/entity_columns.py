"""Tables with a column for each type of entities, whose cells hold these as the text has them:

text,PER,LOC
Tom met Ann in Rome,"Tom, Ann",Rome
"""

from collections.abc import Iterator, Mapping, Sequence

from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.columns.cell_values import as_text
from headwise.data.columns.column_names import (
    LABEL_NAMES,
    TEXT_NAMES,
    is_never_label,
    most_usual_column,
    name_rank,
    normal_name,
)
from headwise.data.columns.file_source import DataSource, Record, fraction_true
from headwise.data.formats.listed_entities import located_entities, places_of_entity
from headwise.data.items.numeric_labels import is_missing_value

ENTITIES = "entities"
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


def has_header(line: str, delimiters: Sequence[str]) -> bool:
    """Whether a line may be the header of such a table."""
    rows = (
        [normal_name(name.strip(' "\r')) for name in line.split(mark)]
        for mark in delimiters
        if mark in line
    )
    return any(not _TYPES.isdisjoint(names) and not {*TEXT_NAMES}.isdisjoint(names) for names in rows)


def recognise(rows: Sequence[Mapping[str, object]]) -> tuple[str, list[str]] | None:
    """The column of the text and those of the types: all that are left beside ids, dates and the like, one
    of them with a usual name, if what they hold is in the text. None where a column has labels."""
    names = [*dict.fromkeys(name for row in rows for name in row)]
    place = most_usual_column(names, TEXT_NAMES)
    if place is None:
        return None
    text = names.pop(place)
    full = [name for name in names if any(_parts(row.get(name)) for row in rows)]
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
    return text, types


def _parts(cell: object) -> list[str]:
    """The entities in a cell: of a list, or separated by commas, semicolons or bars."""
    parts = [*map(as_text, cell)] if isinstance(cell, list) else _SEPARATOR.split(as_text(cell).strip())
    return [part for part in parts if part and not is_missing_value(part)]


def texts_with_spans(
    records: Iterator[Record], source: DataSource, text: str, types: Sequence[str]
) -> Iterator[Record]:
    """The records with spans of the entities in these columns."""
    source.notes.append(
        f"the entities of {text!r} are in columns of their types: {', '.join(map(repr, types))}"
    )
    return located_entities((_with_entities(record, types) for record in records), source)


def _with_entities(record: Record, types: Sequence[str]) -> Record:
    fields = {name: value for name, value in record.fields.items() if name not in types}
    return record._replace(
        fields={**fields, ENTITIES: {name: _parts(record.fields.get(name)) for name in types}}
    )
