"""Spans in other layouts than a list of them, with which each becomes an object of start, end and label:

    {"spans": [[0, 3]], "labels": ["PER"]}                 the types beside the spans
    {"starts": [0], "ends": [3], "labels": ["PER"]}        everything in lists of its own
    {"label": {"name": {"叶老桂": [[9, 11]]}}}             by type and text, as in CLUENER
    {"ner": [{"index": [0, 1], "type": "PER"}]}            all words of a span, as in W2NER
    {"entities": [{"span": [0, 3], "type": "PER"}]}        both ends in one field
    {"annotations": {"entities": [[0, 3, "PER"]]}}         in an object of its own

Code: HW246, a span that is none, or lists of different lengths.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeGuard

from headwise.core.config import JsonObject
from headwise.data.columns.cell_values import as_text
from headwise.data.columns.file_source import DataSource, Record, fraction_true
from headwise.data.formats.record_fields import Flatten, Rows, without_fields
from headwise.data.formats.span_values import (
    END_NAMES,
    SPAN_EXAMPLE,
    SPAN_NAMES,
    START_NAMES,
    TYPE_NAMES,
    parse_span,
    plain_field_name,
)

_ALL_WORDS = "index"
"""The field of a span that lists the places of all its words."""
_PAIRS = ("span", "offsets", "offset", "pos", "position", "positions", "indices", "range")
"""Fields of a span that list its start and its end."""
_MOST = 0.8  # of the records must have their spans in a layout of one field


class _SpanLayout(NamedTuple):
    """The fields that hold the spans, and the function that makes these of the values; None for values that
    are none. The spans become the field `target`."""

    fields: tuple[str, ...]
    spans: Callable[..., list[JsonObject] | None]
    target: str

    def values(self, fields: Mapping[str, object]) -> list[object]:
        """The values of a record; none if all are null. A null beside others is an empty list."""
        values = [fields.get(name) for name in self.fields]
        return [] if all(value is None for value in values) else [[] if v is None else v for v in values]


def recognise(rows: Rows) -> Flatten | None:
    """The reader of spans in one of these layouts."""
    return partial(_listed_spans, layout=layout) if (layout := _span_layout(rows)) else None


def _listed_spans(records: Iterator[Record], source: DataSource, layout: _SpanLayout) -> Iterator[Record]:
    """The records with a list of spans."""
    if any(name.startswith(f"{layout.target}.") for name in source.requested_columns):
        yield from records
        return
    shown = " and ".join(map(repr, layout.fields))
    source.notes.append(f"spans are made of {shown}")
    for record in records:
        values = layout.values(record.fields)
        fields = without_fields(record.fields, *layout.fields)
        if not values:
            yield record._replace(fields={**fields, layout.target: None})
        elif (spans := layout.spans(*values)) is not None:
            yield record._replace(fields={**fields, layout.target: spans})
        else:
            problem = f"no spans in {shown}: {as_text(values)[:60]}"
            if len({len(value) for value in values if isinstance(value, list)}) > 1:
                problem = f"lists of different lengths in {shown}"
            source.report_error("HW246", problem, record.line, expected=SPAN_EXAMPLE)


def _span_layout(rows: Rows) -> _SpanLayout | None:
    """The layout in which the records have their spans, if some have any. One field may be damaged in a few
    records; two and three may have equal lengths by chance, and must have them in all."""
    structures = [
        (name, value) for row in rows for name, value in row.items() if isinstance(value, list | dict)
    ]
    names = [*dict.fromkeys(name for name, _ in structures)]
    lists = [*dict.fromkeys(name for name, value in structures if isinstance(value, list))]
    types = [name for name in lists if _is_named(name, TYPE_NAMES)]
    starts = [name for name in lists if _is_named(name, START_NAMES)]
    ends = [name for name in lists if _is_named(name, END_NAMES)]
    layouts = [
        *(
            _SpanLayout((spans, kind), _with_types, spans)
            for spans in lists
            for kind in types
            if spans != kind
        ),
        *(
            _SpanLayout((start, end, kind), _with_places, SPAN_NAMES[0])
            for start, end in zip(starts, ends, strict=False)
            for kind in types
        ),
        *(_SpanLayout((name,), _of_objects, name) for name in names),
    ]
    for layout in layouts:
        spans = [layout.spans(*values) for row in rows if (values := layout.values(row))]
        fitting = fraction_true(listed is not None for listed in spans)
        if any(spans) and fitting >= (_MOST if len(layout.fields) == 1 else 1):
            return layout
    return None


def _is_named(name: str, names: Sequence[str]) -> bool:
    """Whether a field has one of these names, or its plural."""
    plain = plain_field_name(name)
    return any(plain == singular or plain in (f"{singular}s", f"{singular}es") for singular in names)


def _with_types(spans: object, types: object) -> list[JsonObject] | None:
    """The spans of a list that lacks their types, with those of another list."""
    if not isinstance(spans, list) or not _are_texts(types, len(spans)):
        return None
    typed = [_with_type(span, kind) for span, kind in zip(spans, types, strict=True)]
    return [span for span in typed if span is not None] if None not in typed else None


def _with_places(starts: object, ends: object, types: object) -> list[JsonObject] | None:
    if not isinstance(starts, list) or not isinstance(ends, list) or len(starts) != len(ends):
        return None
    return _with_types([*map(list, zip(starts, ends, strict=True))], types)


def _are_texts(values: object, count: int) -> TypeGuard[list[str]]:
    return isinstance(values, list) and len(values) == count and all(isinstance(v, str) for v in values)


def _with_type(span: object, kind: str, text: str | None = None) -> JsonObject | None:
    """A span without a type, with this one; None of another value."""
    if isinstance(span, list) and len(span) == 2:
        span = {"start": span[0], "end": span[1]}
    if not isinstance(span, dict) or parse_span(span) is not None:
        return None
    named = {**span, "label": kind} | ({} if text is None else {"text": text})
    return named if parse_span(named) is not None else None


def _of_objects(value: object) -> list[JsonObject] | None:
    """The spans of an object of types, or of a list of objects with the places of all words."""
    if isinstance(value, list):
        spans = [*map(_of_places, value)]
    elif isinstance(value, dict) and (names := [name for name in SPAN_NAMES if name in value]):
        listed = value[names[0]]
        spans = (
            [raw if parse_span(raw) is not None else None for raw in listed]
            if isinstance(listed, list)
            else [None]
        )
    elif isinstance(value, dict):
        spans = [span for kind, inner in value.items() for span in _of_type(kind, inner)]
    else:
        return None
    return [span for span in spans if span is not None] if None not in spans else None


def _of_places(value: object) -> JsonObject | None:
    """A span that lists the words that it covers, one after the other, or has both its ends in a field."""
    fields = dict(value) if isinstance(value, dict) else {}
    name = next((name for name in fields if name in _PAIRS or name == _ALL_WORDS), "")
    places = _only(fields.pop(name, None))
    if not isinstance(places, list) or not places or not all(type(place) is int for place in places):
        return None
    start, end = places[0], places[-1] + (name == _ALL_WORDS)
    if len(places) != 2 if name in _PAIRS else places != [*range(start, end)]:
        return None
    span = {key: _only(part) for key, part in fields.items()} | {"start": start, "end": end}
    return span if parse_span(span) is not None else None


def _only(value: Any) -> Any:
    """The only element of a list of a list or of a text; another value itself."""
    return (
        value[0]
        if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str | list)
        else value
    )


def _of_type(kind: str, value: Any) -> Iterator[JsonObject | None]:
    """The spans of a type: a list of them, or an object with a list for each text."""
    by_text: list[tuple[str | None, object]] = (
        [*value.items()] if isinstance(value, dict) else [(None, value)]
    )
    for text, places in by_text:
        if isinstance(places, list) and (places or text is None):
            yield from (_with_type(span, kind, text) for span in places)
        else:
            yield None
