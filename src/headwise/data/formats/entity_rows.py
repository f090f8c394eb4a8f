"""Tables with a row for each entity, in which a text stands as often as it has entities:

    text,start,end,label                     text,entity,label
    Tom met Ann,0,3,PER                      Tom met Ann,Tom,PER
    Tom met Ann,8,11,PER                     Tom met Ann,Ann,PER
    it rains,,,                              it rains,,

The rows of a text become one record with spans of characters. An entity without offsets must occur in its
text as often as it is listed. A row without an entity says that its text has none.

Code: HW246, a span or an entity that is none, is not in the text or occurs there more often, or a text with
two ids.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from headwise.core.config import JsonObject
from headwise.data.columns.cell_values import as_text
from headwise.data.columns.column_names import TEXT_NAMES, normal_name
from headwise.data.columns.file_source import DataSource, Record, most_true, values_recur
from headwise.data.formats.listed_entities import places_of_entity
from headwise.data.formats.record_fields import Flatten, Rows, field_names, usual_field, without_fields
from headwise.data.formats.span_values import END_NAMES, START_NAMES, TYPE_NAMES
from headwise.data.items.numeric_labels import is_missing_value

_SPANS = "spans"
"""The field of the spans that the records get."""

_ENTITY_NAMES = ("entity", "entitytext", "span", "spantext", "mention", "surface", "coveredtext")
_ID_NAMES = {"id", "idx", "index", "number", "no", "key", "uuid"}
_OPINIONS = frozenset(
    ("positive", "negative", "neutral", "pos", "neg", "neu", "mixed", "conflict", "favor", "against")
)
"""Labels of an opinion on what the columns cut out, which is no entity unless the task is named."""
_EXAMPLE = (
    "a row for each entity: its text, its start and end (or the entity as the text has it), its label"
)


class EntityColumns(NamedTuple):
    """The columns of a table with a row for each entity; those that a table lacks are None."""

    text: str
    label: str
    start: str | None
    end: str | None
    entity: str | None

    @property
    def shown(self) -> str:
        """The names of the columns that say what an entity is, for a note."""
        return ", ".join(repr(name) for name in self[2:] + self[1:2] if name is not None)

    def is_empty(self, fields: Mapping[str, object]) -> bool:
        """Whether a row has no entity."""
        cells = (fields.get(name) for name in (self.start, self.end, self.entity, self.label) if name)
        return all(not (text := as_text(cell).strip()) or is_missing_value(text) for cell in cells)


def columns_of_header(names: Sequence[str]) -> EntityColumns | None:
    """The columns of entities among those of a table; None if there are none."""
    plain = {normal_name(name).replace("_", ""): name for name in reversed(names)}

    def first(usual: Sequence[str], *taken: str | None) -> str | None:
        return next((plain[key] for key in usual if key in plain and plain[key] not in taken), None)

    if (text := usual_field(names, TEXT_NAMES)) is None:
        return None
    start, end = first(START_NAMES, text), first(END_NAMES, text)
    if start is None or end is None:
        start = end = None
    label = next(
        (name for key in ("label", "type") for name in names if normal_name(name) == key and name != text),
        first(TYPE_NAMES, text, start, end),
    )
    entity = first(_ENTITY_NAMES, text, start, end, label)
    if label is None or (start is None and entity is None):
        return None
    return EntityColumns(text, label, start, end, entity)


def recognise(rows: Rows) -> Flatten | None:
    """The reader of such a table, if most rows have an entity of their text, or none, and labels are types
    of entities."""
    columns = columns_of_header(field_names(rows))
    if columns is None:
        return None
    full = [row for row in rows if not columns.is_empty(row)]
    labels = [as_text(row.get(columns.label)).strip() for row in full]
    if not full or not values_recur(labels) or all(label.lstrip("-").isdecimal() for label in labels):
        return None
    if not most_true(_fits(row, columns) for row in full):
        return None
    return partial(_texts_with_spans, columns=columns, identity=_id_column(rows, columns))


def _fits(fields: Mapping[str, object], columns: EntityColumns) -> bool:
    text = as_text(fields.get(columns.text))
    if columns.start is not None and columns.end is not None:
        start, end = (_offset(fields.get(name)) for name in (columns.start, columns.end))
        return isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= 4 * len(text)
    return bool(places_of_entity(text, as_text(fields.get(columns.entity or "")).strip()))


def _offset(cell: object) -> object:
    """An offset as a whole number; pandas writes `3.0` beside empty cells."""
    text = as_text(cell).strip().removesuffix(".0")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else cell


def _texts_with_spans(
    records: Iterator[Record], source: DataSource, columns: EntityColumns, identity: str | None
) -> Iterator[Record]:
    """A record for each text, in the order of their first rows; rows that cannot be used are reported, and
    their text is left out."""
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        key = as_text(record.fields.get(identity or "")), as_text(record.fields.get(columns.text))
        groups.setdefault(key, []).append(record)
    by = f"{columns.text!r}" if identity is None else f"{identity!r} and {columns.text!r}"
    source.notes.append(f"a row for each entity ({columns.shown}); rows with equal {by} are one text")
    for (_, text), rows in groups.items():
        try:
            spans = _spans(text, rows, columns)
        except ValueError as error:
            problem, line, advice = error.args
            source.report_error("HW246", problem, line, expected=_EXAMPLE, advice=advice)
            continue
        fields = without_fields(rows[0].fields, *{*columns} - {columns.text})
        yield Record(rows[0].line, {**fields, _SPANS: spans})


def _id_column(rows: Rows, columns: EntityColumns) -> str | None:
    """The column that numbers the texts: ids that recur, each with one text."""
    for name in rows[0] if rows else ():
        if name in columns or normal_name(name).split("_")[-1] not in _ID_NAMES:
            continue
        pairs = {(as_text(row.get(name)), as_text(row.get(columns.text))) for row in rows}
        ids = {identity for identity, _ in pairs}
        if len(ids) == len(pairs) < len(rows):
            return name
    return None


def _spans(text: str, rows: Sequence[Record], columns: EntityColumns) -> list[JsonObject]:
    """The spans of a text, from its rows; a ValueError holds the problem, line and advice of a bad one."""
    full = [row for row in rows if not columns.is_empty(row.fields)]
    listed = Counter(as_text(row.fields.get(columns.entity or "")).strip() for row in full)
    spans: list[JsonObject] = []
    for row in full:
        label, entity = (
            as_text(row.fields.get(name or "")).strip() for name in (columns.label, columns.entity)
        )
        if not label:
            raise ValueError("an entity without a label", row.line, "")
        if columns.start is not None and columns.end is not None:
            start, end = (_offset(row.fields.get(name)) for name in (columns.start, columns.end))
            if not isinstance(start, int) or not isinstance(end, int):
                raise ValueError(f"an entity from {as_text(start)!r} to {as_text(end)!r}", row.line, "")
            spans.append(
                {"start": start, "end": end, "label": label} | ({"text": entity} if entity else {})
            )
            continue
        places = places_of_entity(text, entity) if entity else []
        if len(places) != listed[entity]:
            times = "is not in its text" if not places else f"occurs {len(places)} times in its text"
            advice = "give its place in columns 'start' and 'end'" if places else ""
            raise ValueError(f"the entity {entity!r} {times}", row.line, advice)
        spans += [{"start": place, "end": place + len(entity), "label": label} for place in places]
    return spans


def are_opinions(types: Iterable[str]) -> bool:
    """Whether the types of spans are opinions, which may also belong to the whole text."""
    return {name.lower() for name in types} <= _OPINIONS


def is_header(names: Sequence[str]) -> bool:
    """Whether names may be those of such a table."""
    return columns_of_header(names) is not None
