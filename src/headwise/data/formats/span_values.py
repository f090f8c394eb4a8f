"""Spans as JSON has them: a list of start, end and type, or an object with these."""

from headwise.data.formats.span_offsets import CharacterSpan

SPAN_NAMES = ("spans", "entities", "ents", "label", "labels", "annotations", "annotation", "ner")
"""Usual names of the field of spans, the most certain first."""

_START = ("start", "start_offset", "startOffset", "start_char", "begin", "offset")
_END = ("end", "end_offset", "endOffset", "end_char", "stop")
_TYPE = (
    "className",
    "displayName",
    "label",
    "type",
    "labels",
    "entity",
    "entity_group",
    "entity_type",
    "category",
    "tag",
    "class",
)
_WRITTEN = ("text", "value", "surface", "mention", "covered_text")


def parse_span(raw: object) -> CharacterSpan | None:
    """A span from its JSON value, a list or an object; None if it is invalid."""
    written, is_value = None, False
    if isinstance(raw, dict):
        start, end, kind = (
            next((raw[name] for name in names if name in raw), None) for names in (_START, _END, _TYPE)
        )
        first, last = raw.get("startPos"), raw.get("endPos")  # of LUIS
        if type(first) is int and type(last) is int:
            start, end = first, last + 1
        start, length = _integer(start), _integer(raw.get("length"))
        if end is None and isinstance(start, int) and isinstance(length, int):
            end = start + length
        field = next((name for name in _WRITTEN if isinstance(raw.get(name), str) and raw[name]), None)
        written, is_value = raw.get(field or ""), field == "value"
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
    if type(kind) is int:  # the number of a label, as doccano writes it
        kind = str(kind)
    if type(start) is not int or type(end) is not int or not isinstance(kind, str):
        return None
    return CharacterSpan(start, end, kind.strip(), written, is_value)


def _integer(offset: object) -> object:
    """A whole number that is written as a decimal or a text (`3.0`, `"3"`) as an integer; other values are
    unchanged."""
    if isinstance(offset, float) and offset.is_integer():
        return int(offset)
    if isinstance(offset, str) and offset.isascii() and offset.isdecimal() and len(offset) < 10:
        return int(offset)
    return offset
