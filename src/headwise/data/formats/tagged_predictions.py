"""Predictions of taggers that are read as tagged words (`headwise predict --output found.jsonl`).

Each has its spans twice, as tags of words and with their characters. Corrections of the one leave the other
as it was.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from headwise.data.columns.cell_values import as_text
from headwise.data.formats.span_values import parse_span
from headwise.metrics.tag_schemes import read_spans

_FIELDS = frozenset(("words", "tags", "probabilities", "spans"))
_Place = tuple[int, int, str]


def contradiction(fields: Mapping[str, object], words: Sequence[str], tags: Sequence[str]) -> str:
    """How the spans of a prediction differ from its tags, as one of them was corrected.

    "" if they do not, if the record is no prediction, or if its text is unknown."""
    raw_spans = fields.get("spans")
    if not fields.keys() >= _FIELDS or not isinstance(raw_spans, list):
        return ""
    texts = [value for value in fields.values() if isinstance(value, str)]
    places = next(filter(None, (_word_places(text, words) for text in texts)), None)
    if places is None:
        return ""
    tagged = {
        (places[start][0], places[end - 1][1], kind) for start, end, kind in read_spans(tags) if end > start
    }
    spans = set[_Place]()
    for raw in raw_spans:
        if (span := _place(raw, places)) is None:
            return f"the span {as_text(raw)[:60]}, without its characters or its type"
        spans.add(span)
    if only := sorted(spans - tagged):
        return f"a span {_shown(only[0])} that the tags lack"
    if only := sorted(tagged - spans):
        return f"tags of a span {_shown(only[0])} that is not among the spans"
    return ""


def _place(raw: Any, places: Sequence[tuple[int, int]]) -> _Place | None:
    """The characters and the type of a span, which those of words that came as such name by words alone."""
    if (span := parse_span(raw)) is not None:
        return span.start, span.end, span.type
    match raw:
        case {"words": [int(start), int(end)], "type": str(kind)} if 0 <= start < end <= len(places):
            return places[start][0], places[end - 1][1], kind
    return None


def _shown(place: _Place) -> str:
    return f"from {place[0]} to {place[1]} ({place[2]})"


def _word_places(text: str, words: Sequence[str]) -> list[tuple[int, int]] | None:
    """The characters of each word in a text that consists of them; None if it does not."""
    places, at = [], 0
    for word in words:
        start = text.find(word, at)
        if start < 0 or text[at:start].strip():
            return None
        at = start + len(word)
        places.append((start, at))
    return None if text[at:].strip() else places
