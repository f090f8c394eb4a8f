"""Records in envelopes, as interfaces of databases and services write them: the text is within an object,

    {"id": "rec1", "createdTime": "2024-01-01", "fields": {"text": "no sound", "label": "hardware"}}
    {"_index": "mails", "_id": "1", "_source": {"text": "no sound", "label": "hardware"}}

or within JSON in a string, as in dumps of message queues and logs:

    {"topic": "mails", "offset": 7, "value": "{\\"text\\": \\"no sound\\", \\"label\\": \\"hardware\\"}"}

or each value is in a list of its own (Solr), or in an object that names its type (Firestore, DynamoDB,
MongoDB, Notion):

    {"text": {"stringValue": "no sound"}, "label": {"stringValue": "hardware"}}
    {"text": {"S": "no sound"}, "label": {"S": "hardware"}}
    {"_id": {"$oid": "5f"}, "text": "no sound", "label": {"$numberInt": "1"}}
    {"text": {"id": "a", "type": "title", "title": [{"plain_text": "no sound"}]}}

The inner fields become fields of the record, under their last name if no other field has it.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeGuard

from headwise.core.config import JsonMapping
from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.columns.column_names import TEXT_NAMES, name_rank
from headwise.data.columns.file_source import DataSource, Record, look_ahead

MISSING = object()
_DEPTH = 6  # objects within each other
_TYPED_DEPTH = 100  # objects and lists within each other in which types are looked for
_PROSE = 3  # words of a value that is a text, whatever its name
_MACHINE = lazy_pattern(r"\S*://\S*|\d{4}-\d\d-\d\dT?.*|[\[{].*")  # links, dates and JSON
_JSON_OBJECT = lazy_pattern(r'\s*\{\s*"')
_NUMBERS = ("N", "integerValue", "$numberInt", "$numberLong", "$numberDouble", "$numberDecimal")
_TYPES: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys((*_NUMBERS, "S", "stringValue", "timestampValue", "referenceValue"), str),
    **dict.fromkeys(("$oid", "$uuid", "$symbol"), str),
    **dict.fromkeys(("L", "SS", "NS"), list),
    **dict.fromkeys(("M", "arrayValue", "mapValue"), dict),
    **dict.fromkeys(("BOOL", "NULL", "booleanValue"), bool),
    "nullValue": type(None),
    "doubleValue": (int, float),
    "$date": (str, int, dict),
}
"""The JSON type of what is in an object of a type."""
_TEXT_PROPERTIES = ("title", "rich_text")


def lift_envelopes(records: Iterator[Record], source: DataSource) -> Iterator[Record]:
    """The records, with the fields of their inner objects if only these hold a text. Records in which a
    requested path (`data.text`) leads to a value are unchanged."""
    head, records = look_ahead(records, count=50)
    paths = [name for name in source.requested_columns if "." in name]
    is_path = any(value_at_path(record.fields, path) is not MISSING for record in head for path in paths)
    if is_path or not _is_envelope(head):
        yield from records
        return
    paths = [path for record in head for path, _ in _inner_fields(record.fields)]
    counts = Counter(path.rpartition(".")[2] for path in dict.fromkeys(paths))
    parents = dict.fromkeys(path.rpartition(".")[0] for path in paths)
    names = ", ".join(map(repr, [name for name in parents if name][:5]))
    source.notes.append(f"the fields within {names} are read as fields of the record")
    for record in records:
        fields = dict[str, object]()
        for path, value in _inner_fields(record.fields):
            last = path.rpartition(".")[2]
            fields[last if counts[last] <= 1 else path] = value
        yield Record(record.line, fields)


def value_at_path(fields: object, name: str) -> object:
    """The value at a path of keys and indices joined by dots; `MISSING` if there is none."""
    for step in name.split("."):
        fields = _object_in(fields)
        if isinstance(fields, list) and step.isdecimal() and int(step) < len(fields):
            fields = fields[int(step)]
        elif isinstance(fields, dict) and step in fields:
            fields = fields[step]
        else:
            return MISSING
    return fields


def _is_envelope(head: Sequence[Record]) -> bool:
    """Whether no record has a text or a list, and most have a text within objects."""
    inner = 0
    for record in head:
        for name, value in record.fields.items():
            if _is_text(name, _object_in(value)) or (isinstance(value, list) and value):
                return False
        inner += holds_text(record.fields)
    return 2 * inner > len(head)


def _inner_fields(fields: JsonMapping, path: str = "", depth: int = 0) -> Iterator[tuple[str, object]]:
    """The values of an object and of the objects within it, with their paths."""
    for name, value in fields.items():
        inner = _object_in(value) if depth < _DEPTH else value
        if isinstance(inner, dict) and inner and depth < _DEPTH:
            yield from _inner_fields(inner, f"{path}{name}.", depth + 1)
        else:
            yield f"{path}{name}", value


def _object_in(value: object) -> object:
    """The object that a string holds as JSON; another value itself."""
    if isinstance(value, str) and _JSON_OBJECT.match(value):
        with suppress(ValueError, RecursionError):
            return json.loads(value)
    return value


def _is_text(name: str, value: object) -> bool:
    """Whether a value is a text by its name or its words."""
    if not isinstance(value, str) or not value.strip() or _MACHINE.fullmatch(value.strip()):
        return False
    return name_rank(name, TEXT_NAMES) is not None or len(value.split()) >= _PROSE


def holds_text(value: object) -> bool:
    """Whether an object has a text, or one within objects."""
    return isinstance(value, dict) and any(
        _is_text(path.rpartition(".")[2], inner) for path, inner in _inner_fields(value)
    )


def untyped_records(records: Iterator[Record]) -> Iterator[Record]:
    """The records, without the types of their values if the first ones have any, and without lists around
    them."""
    head, records = look_ahead(records, count=50)
    if any(_plain_fields(record.fields) != record.fields for record in head):
        return (record._replace(fields=_plain_fields(record.fields)) for record in records)
    if names := _listed_names(head):
        return (record._replace(fields=_unlisted(record.fields, names)) for record in records)
    return records


def _listed_names(head: Sequence[Record]) -> set[str]:
    """The fields whose values are lists of one value each; none unless most records have a text in such a
    list, and no record has one outside."""
    fields = [record.fields for record in head]
    single = {
        name
        for name in dict.fromkeys(name for row in fields for name in row)
        if all(_is_single(row[name]) for row in fields if name in row)
    }
    if any(_is_text(name, value) for row in fields for name, value in row.items()):
        return set()
    texts = sum(
        any(_is_text(name, value[0]) for name, value in row.items() if name in single and _is_single(value))
        for row in fields
    )
    return single if 2 * texts > len(fields) else set()


def _is_single(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list) and len(value) == 1 and not isinstance(value[0], list | dict)


def _unlisted(fields: JsonMapping, names: set[str]) -> dict[str, Any]:
    return {
        name: value[0] if name in names and _is_single(value) else value for name, value in fields.items()
    }


def plain_value(value: Any, depth: int = 0) -> Any:
    """A JSON value without the objects that name types. Names without a `$` count if all values of an
    object have one."""
    if depth > _TYPED_DEPTH or not isinstance(value, dict | list):
        return value
    if isinstance(value, list):
        return [plain_value(part, depth + 1) for part in value]
    if _is_typed(value) and next(iter(value)).startswith("$"):
        return _without_type(value, depth + 1)
    return _plain_fields(value, depth + 1)


def _plain_fields(fields: JsonMapping, depth: int = 0) -> dict[str, Any]:
    """The fields of an object, without the types of their values."""
    change = _without_type if fields and all(map(_is_typed, fields.values())) else plain_value
    return {name: change(part, depth) for name, part in fields.items()}


def _is_typed(value: object) -> bool:
    if not isinstance(value, dict) or len(value) != 1:
        return _is_property(value)
    [(name, inner)] = value.items()
    return name in _TYPES and isinstance(inner, _TYPES[name])


def _is_property(value: object) -> bool:
    """Whether an object has an id, a type and a value of this name."""
    if not isinstance(value, dict) or len(value) != 3:
        return False
    kind = value.get("type")
    return isinstance(kind, str) and {"id", "type", kind} == {*value}


def _property_value(value: JsonMapping) -> Any:
    """The value of a property: the text of its pieces, or the names of what was selected."""
    kind, inner = value["type"], value[value["type"]]
    if isinstance(inner, dict):
        return inner.get("name", inner)
    if not isinstance(inner, list) or not all(isinstance(part, dict) for part in inner):
        return inner
    if kind in _TEXT_PROPERTIES or (inner and all("plain_text" in part for part in inner)):
        return "".join(str(part.get("plain_text", "")) for part in inner)
    return [part.get("name", part) for part in inner]


def _without_type(value: Any, depth: int) -> Any:
    """The value in an object that names its type."""
    if not _is_typed(value):
        return plain_value(value, depth)
    if _is_property(value):
        return _property_value(value)
    [(kind, inner)] = value.items()
    if kind in ("NULL", "nullValue"):
        return None
    if kind == "arrayValue":
        inner = inner.get("values", [])
    if kind == "mapValue":
        inner = inner.get("fields", {})
    if isinstance(inner, list):
        return [_without_type(part, depth + 1) for part in inner]
    if isinstance(inner, str) and kind in _NUMBERS:
        with suppress(ValueError):
            return json.loads(inner)
    return plain_value(inner, depth + 1)
