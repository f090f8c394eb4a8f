"""Spans as JSON has them: a list of start, end and type, or an object with these."""

from functools import lru_cache

from headwise.data.formats.span_offsets import CharacterSpan

SPAN_NAMES = ("spans", "entities", "ents", "label", "labels", "annotations", "annotation", "ner")
"""Usual names of the field of spans, the most certain first."""

_POSITIONS = ("offset", "char", "index", "idx", "pos", "position")
START_NAMES = (
    "start",
    *(f"start{name}" for name in _POSITIONS),
    *("charstart", "spanstart", "begin", "beginoffset", "offset", "from"),
)
END_NAMES = ("end", *(f"end{name}" for name in _POSITIONS), "charend", "spanend", "stop", "to")
TYPE_NAMES = (
    *("classname", "displayname", "label", "type", "labels", "entity", "entitygroup", "entitytype"),
    *("category", "tag", "class", "kind", "entitylabel", "labelname", "nertag"),
)
WRITTEN_NAMES = ("text", "value", "surface", "mention", "coveredtext", "entitytext", "spantext")

_ENTITY = ("name", "word", "entity")  # names of the text of an entity without offsets
SPAN_EXAMPLE = (
    'spans such as [0, 5, "PER"]: the first character, the one after the last, and the type; or as '
    '{"start": 0, "end": 5, "label": "PER"}'
)
ENTITY_EXAMPLE = 'entities of the text, such as {"text": "Paris", "label": "LOC"} or {"LOC": ["Paris"]}'


def parse_span(raw: object) -> CharacterSpan | None:
    """A span from its JSON value, a list or an object; None if it is invalid."""
    written, is_value = None, False
    if isinstance(raw, dict):
        first, last = raw.get("startPos"), raw.get("endPos")  # of LUIS, whose ends are inclusive
        raw = {plain_field_name(name): value for name, value in raw.items()}
        start, end, kind = (
            next((raw[name] for name in names if name in raw), None)
            for names in (START_NAMES, END_NAMES, TYPE_NAMES)
        )
        if type(first) is int and type(last) is int:
            start, end = first, last + 1
        start, length = _integer(start), _integer(raw.get("length"))
        if end is None and isinstance(start, int) and isinstance(length, int):
            end = start + length
        field = next((name for name in WRITTEN_NAMES if isinstance(raw.get(name), str) and raw[name]), None)
        written, is_value = raw[field] if field else None, field == "value"
    elif isinstance(raw, list) and len(raw) in (3, 4):
        start, end, kind = raw[:3]
        if isinstance(start, str):  # the type first, as Argilla writes it
            start, end, kind = end, kind, start
    else:
        return None
    if isinstance(raw, dict) or not isinstance(end, str):
        start, end = _integer(start), _integer(end)
    if isinstance(kind, list) and len(kind) == 1:
        kind = kind[0]
    if isinstance(kind, dict):  # of flair, with a confidence
        kind = kind.get("value")
    if type(kind) is int:  # the number of a label, as doccano writes it
        kind = str(kind)
    if type(start) is not int or type(end) is not int or not isinstance(kind, str):
        return None
    return CharacterSpan(start, end, kind.strip(), written, is_value)


def with_one_type(raw: object) -> list[object]:
    """A span as its JSON value, or several if it has a list of types: one with each of them."""
    if isinstance(raw, dict):
        for name, kinds in raw.items():
            if plain_field_name(name) in TYPE_NAMES and isinstance(kinds, list) and len(kinds) > 1:
                return [{**raw, name: kind} for kind in kinds]
    return [raw]


def parse_entity(raw: object) -> tuple[str, str] | None:
    """The text and the type of an entity without offsets from its JSON value, an object or a list of both;
    None if it is invalid."""
    if isinstance(raw, dict):
        values = {plain_field_name(name): value for name, value in raw.items() if isinstance(value, str)}
        written = next((name for name in (*WRITTEN_NAMES, *_ENTITY) if name in values), "")
        kind = next((name for name in TYPE_NAMES if name in values and name != written), "")
        raw = [values.get(written), values.get(kind)]
    match raw:
        case [str(text), str(kind)] if text.strip() and kind.strip():
            return text.strip(), kind.strip()
    return None


@lru_cache(1_000)
def plain_field_name(name: str) -> str:
    """The name of a field without capitals, underscores and hyphens."""
    return name.replace("_", "").replace("-", "").lower()


def _integer(offset: object) -> object:
    """A whole number that is written as a decimal or a text (`3.0`, `"3"`) as an integer; other values are
    unchanged."""
    if isinstance(offset, float) and offset.is_integer():
        return int(offset)
    if isinstance(offset, str) and offset.isascii() and offset.isdecimal() and len(offset) < 10:
        return int(offset)
    return offset
