"""Entities by their texts, without offsets, as language models and people write them:

    {"text": "Tom met Ann", "entities": [{"text": "Tom", "label": "PER"}, {"text": "Ann", "label": "PER"}]}
    {"text": "Tom met Ann", "entities": {"PER": ["Tom", "Ann"]}}
    {"text": "Tom met Ann", "entities": {"Tom": "PER", "Ann": "PER"}}

An entity is wherever its text stands at the ends of words, outside of longer entities.

Code: HW246, an entity that is none, is not in the text, or has two types.
"""

from collections import Counter
from collections.abc import Iterator
from functools import partial

from headwise.core.config import JsonObject
from headwise.data.columns.column_contents import UNSPACED_LETTER
from headwise.data.columns.column_names import LABEL_NAMES, TEXT_NAMES, name_rank
from headwise.data.columns.file_source import DataSource, Record, most_true
from headwise.data.formats.record_fields import Flatten, Rows, field_names, usual_field
from headwise.data.formats.span_values import ENTITY_EXAMPLE, SPAN_NAMES, parse_entity, parse_span

Entity = tuple[str, str]
"""Text and type."""


def recognise(rows: Rows) -> Flatten | None:
    """The reader of entities by their texts beside a text, in which most of them are, without a label of
    the whole text."""
    names = field_names(rows)
    if (text := usual_field(names, TEXT_NAMES)) is None:
        return None
    listed = [name for name in names if any(_entities(row.get(name), row.get(text)) for row in rows)]
    if (entities := usual_field(listed, SPAN_NAMES)) is None:
        return None
    if any(name_rank(name, LABEL_NAMES) is not None for name in names if name not in (text, entities)):
        return None
    pairs = [
        (str(content), entity)
        for row in rows
        for content in [row.get(text)]
        for entity in _entities(row.get(entities), content) or ()
    ]
    fits = [bool(places_of_entity(content, name)) for content, (name, _) in pairs]
    return partial(located_entities, text_field=text, field=entities) if most_true(fits) else None


def _entities(value: object, text: object) -> list[Entity] | None:
    """The entities of a text that a list or an object names; None of another value, and of spans with
    offsets."""
    if isinstance(value, dict):
        value = [pair for item in value.items() for pair in _pairs(*item, text)]
    if not isinstance(value, list) or any(parse_span(raw) is not None for raw in value):
        return None
    entities = [entity for raw in value if (entity := parse_entity(raw)) is not None]
    return entities if len(entities) == len(value) else None


def _pairs(name: str, value: object, text: object) -> list[list[object]]:
    """The entities with their types, given a type and one or several entities of it, or an entity of the
    text and its type."""
    if isinstance(value, str):
        return [[name, value] if name in str(text) else [value, name]]
    return [[part, name] for part in (value if isinstance(value, list) else [None])]


def places_of_entity(text: str, name: str) -> list[int]:
    """Where an entity begins in a text, at the ends of words."""
    places, start = list[int](), 0
    while name and (start := text.find(name, start)) >= 0:
        end = start + len(name)
        if _is_within_word(text, start) or _is_within_word(text, end):
            start += 1
        else:
            places.append(start)
            start = end
    return places


def _is_within_word(text: str, place: int) -> bool:
    around = text[place - 1 : place + 1] if place else ""
    return len(around) == 2 and around.isalnum() and UNSPACED_LETTER.search(around) is None


def located_entities(
    records: Iterator[Record], source: DataSource, text_field: str, field: str
) -> Iterator[Record]:
    """The records with spans of characters in place of the entities."""
    if any(name.startswith(f"{field}.") for name in source.requested_columns):
        yield from records
        return
    source.notes.append(f"the entities in {field!r} are located in {text_field!r}, at the ends of words")
    counts = Counter[str]()
    for record in records:
        text, value = record.fields.get(text_field), record.fields.get(field)
        if not isinstance(text, str) or value in (None, ""):
            yield record
            continue
        try:
            spans = _located(text, value, counts)
        except ValueError as error:
            source.report_error("HW246", str(error), record.line, expected=ENTITY_EXAMPLE)
            continue
        yield record._replace(fields={**record.fields, field: spans})
    if count := counts["repeated"]:
        source.notes.append(
            f"entities that occur more often than they are listed, and are tagged everywhere: {count:,}"
        )
    if count := counts["inner"]:
        source.notes.append(f"entities that are left out, as they occur only within longer ones: {count:,}")


def _located(text: str, value: object, counts: Counter[str]) -> list[JsonObject]:
    """The spans of the entities of a text; `counts` has how many are `repeated`, and `inner`."""
    entities = _entities(value, text)
    if entities is None:
        raise ValueError(f"entities of which one is none: {str(value)[:60]}")
    types: dict[str, str] = {}
    for name, kind in entities:
        if types.setdefault(name, kind) != kind:
            raise ValueError(f"the entity {name!r} of two types, {types[name]!r} and {kind!r}")
    spans, free, listed = [], bytearray(b"\1" * len(text)), Counter(name for name, _ in entities)
    for name in sorted(types, key=len, reverse=True):
        places = places_of_entity(text, name)
        if not places:
            raise ValueError(f"the entity {name!r} is not in the text")
        starts = []
        for start in places:
            end = start + len(name)
            if free.find(0, start, end) < 0:
                free[start:end] = bytes(len(name))
                starts.append(start)
                spans.append({"start": start, "end": end, "label": types[name]})
        counts["repeated"] += len(starts) > listed[name]
        counts["inner"] += not starts
    return sorted(spans, key=lambda span: span["start"])
