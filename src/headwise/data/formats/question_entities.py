"""Entities as answers to questions (MRC-NER): a record for each text and type of entity,

    {"context": "Tom met Ann", "entity_label": "PER", "query": "Find names of people.",
     "start_position": [0, 2], "end_position": [0, 2], "span_position": ["0;0", "2;2"]}

The records of a text become one with its words and with spans that count these; ends are the last words.

Code: HW246, places that are none.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from headwise.core.config import JsonObject
from headwise.data.columns.cell_values import as_text
from headwise.data.columns.file_source import DataSource, Record
from headwise.data.formats.token_spans import TOKENS

_TEXT, _TYPE, _STARTS, _ENDS = "context", "entity_label", "start_position", "end_position"


def recognise(rows: Sequence[Mapping[str, object]]) -> bool:
    """Whether all objects have a text, a type of entities and lists of their places."""
    return bool(rows) and all(
        isinstance(row.get(_TEXT), str)
        and isinstance(row.get(_TYPE), str)
        and isinstance(row.get(_STARTS), list)
        and isinstance(row.get(_ENDS), list)
        for row in rows
    )


def sentences(records: Iterator[Record], source: DataSource) -> Iterator[Record]:
    """A record for each text, with its words and the spans of all types; invalid ones are reported and left
    out."""
    source.notes.append(f"a record for each type of entities: those with equal {_TEXT!r} are one text")
    for text, group in groupby(records, key=lambda record: as_text(record.fields.get(_TEXT))):
        parts = [*group]
        spans = [_spans(part.fields) for part in parts]
        for part, listed in zip(parts, spans, strict=True):
            if listed is None:
                problem = f"places of {part.fields.get(_TYPE)!r} that are none"
                source.report_error("HW246", problem, part.line, expected=f"{_STARTS} and {_ENDS}, as long")
        if None not in spans:
            listed_spans = [span for listed in spans for span in listed or ()]
            yield Record(parts[0].line, {TOKENS: text.split(), "spans": listed_spans})


def _spans(fields: Mapping[str, object]) -> list[JsonObject] | None:
    """The spans of a record; None if its places are none."""
    kind, starts, ends = fields.get(_TYPE), fields.get(_STARTS), fields.get(_ENDS)
    if not isinstance(starts, list) or not isinstance(ends, list) or len(starts) != len(ends):
        return None
    places = [*zip(starts, ends, strict=True)]
    if not isinstance(kind, str) or not all(type(place) is int for pair in places for place in pair):
        return None
    return [{"start": start, "end": end + 1, "label": kind} for start, end in places]
