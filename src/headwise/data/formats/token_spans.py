"""Lists of words with spans that count words, as SpERT and GLiNER read them:

    {"tokens": ["Tom", "Hanks", "ran"], "entities": [{"type": "PER", "start": 0, "end": 2}]}
    {"tokenized_text": ["Tom", "Hanks", "ran"], "ner": [[0, 1, "PER"]]}

The end of a span is the word after its last one (SpERT). If a span of the file ends where it starts, or
the field of the words is GLiNER's and no span ends after them, the ends are the last words.

Entities may also be answers to questions (MRC-NER), with a record for each text and type of entity:

    {"context": "Tom met Ann", "entity_label": "PER", "query": "Find names of people.",
     "start_position": [0, 2], "end_position": [0, 2], "span_position": ["0;0", "2;2"]}

The records of a text become one with its words and with spans; ends are the last words.

Code: HW246, a span that is none, or overlaps another, and places that are none.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby, pairwise

from headwise.core.config import JsonObject
from headwise.data.columns.cell_values import as_text
from headwise.data.columns.column_names import TEXT_NAMES, name_rank, normal_name
from headwise.data.columns.file_source import DataSource, Record, most_true
from headwise.data.columns.item_options import OverlapPolicy
from headwise.data.formats.record_fields import (
    Flatten,
    Rows,
    field_names,
    list_of,
    usual_field,
    without_fields,
)
from headwise.data.formats.span_overlaps import ADVICE, left_out_note, without_overlaps
from headwise.data.formats.span_values import SPAN_NAMES, CharacterSpan, parse_span

_TOKENS, _TAGS = "tokens", "ner_tags"
"""The fields of the words and of their tags that the records get."""

INCLUSIVE_TOKENS = "tokenized_text"
"""The field of words beside which spans end with their last words."""

_TOKEN_NAMES = ("tokens", "words", INCLUSIVE_TOKENS, "sentence")
_TEXT, _TYPE, _STARTS, _ENDS = "context", "entity_label", "start_position", "end_position"
"""The fields of a question."""

_EXPECTED = "spans of words that do not overlap, each with its start, its end and its type"


def recognise(rows: Rows) -> Flatten | None:
    """The reader of lists of words beside spans that count these, without tags of them."""
    if (fields := _fields(rows)) is None:
        return None
    words, spans = fields
    pairs = [(list_of(row.get(words)), _spans(row.get(spans))) for row in rows]
    if not most_true(all(span.end <= len(tokens) for span in listed) for tokens, listed in pairs if listed):
        return None
    ends = [(span, len(tokens)) for tokens, listed in pairs for span in listed]
    inclusive = normal_name(words) == INCLUSIVE_TOKENS and all(span.end < size for span, size in ends)
    last = int(inclusive or any(span.start == span.end for span, _ in ends))
    return partial(_tagged_tokens, words=words, spans=spans, last=last)


def _fields(rows: Rows) -> tuple[str, str] | None:
    """The names of the fields of words and of spans; None if there are none, or a text beside them, whose
    characters the spans count."""
    names = field_names(rows)
    lists = [name for name in names if any(isinstance(row.get(name), list) for row in rows)]
    words = next((name for name in lists if normal_name(name) in _TOKEN_NAMES), None)
    with_spans = [name for name in names if any(_spans(row.get(name)) for row in rows)]
    spans = usual_field(with_spans, SPAN_NAMES)
    if words is None or spans is None:
        return None
    if any(isinstance(word, dict) for row in rows for word in list_of(row.get(words))):
        return None
    text_names = [name for name in names if name_rank(name, TEXT_NAMES) is not None and name != words]
    texts = [(row[name], _spans(row.get(spans))) for row in rows for name in text_names if row.get(name)]
    if texts and not any(_cuts_word(span, str(text)) for text, listed in texts for span in listed):
        return None
    return words, spans


def _cuts_word(span: CharacterSpan, text: str) -> bool:
    """Whether a span of characters would begin or end within a word."""
    return any(at > 0 and text[at - 1 : at + 1].isalnum() and at < len(text) for at in span[:2])


def _spans(value: object) -> list[CharacterSpan]:
    """The valid spans of a list, whose offsets count words here."""
    return [span for span in map(parse_span, list_of(value)) if span is not None]


def _tagged_tokens(
    records: Iterator[Record], source: DataSource, words: str, spans: str, last: int
) -> Iterator[Record]:
    """The records with a BIO tag for each word in place of the spans, whose ends are so many words less."""
    end = "its last word" if last else "the word after its last one"
    source.notes.append(f"the spans in {spans!r} count words, and end with {end}")
    left_out = 0
    for record in records:
        fields = without_fields(record.fields, words, spans)
        tokens, listed = record.fields.get(words), record.fields.get(spans)
        try:
            tags, overlapping = None, 0
            if listed is not None:
                named = [*map(str, list_of(tokens))]
                tags, overlapping = _tags(listed, named, last, source.overlap_policy)
        except ValueError as error:
            problem, *advice = error.args
            source.report_error("HW246", problem, record.line, expected=_EXPECTED, advice="".join(advice))
            continue
        left_out += overlapping
        yield Record(record.line, {**fields, _TOKENS: tokens, _TAGS: tags})
    if left_out:
        source.notes.append(left_out_note(left_out, source.overlap_policy))


def _tags(listed: object, words: Sequence[str], last: int, policy: OverlapPolicy) -> tuple[list[str], int]:
    """The BIO tags of words, and the number of spans that are left out as they overlap others."""
    spans = _spans(listed)
    if not isinstance(listed, list) or len(spans) < len(listed):
        raise ValueError(f"spans of which one is none: {str(listed)[:60]}")
    distinct = [*dict.fromkeys(span._replace(end=span.end + last) for span in spans)]
    for span in distinct:
        if not 0 <= span.start < span.end <= len(words) or not span.type:
            place = f"from word {span.start} to {span.end - last} of {len(words)}"
            raise ValueError(f"a span of {span.type!r} {place}")
        covered = " ".join(words[span.start : span.end])
        if span.written and not span.is_value and "".join(span.written.split()) != "".join(covered.split()):
            raise ValueError(f"the span {span.written!r} around the words {covered!r}")
    chosen = without_overlaps(distinct, policy)
    for first, second in pairwise(chosen):
        if second.start < first.end:
            raise ValueError(
                f"spans that overlap: {first.type!r} and {second.type!r} at word {second.start}", ADVICE
            )
    tags = ["O"] * len(words)
    for span in chosen:
        tags[span.start : span.end] = [f"B-{span.type}", *[f"I-{span.type}"] * (span.end - span.start - 1)]
    return tags, len(distinct) - len(chosen)


def recognise_questions(rows: Rows) -> Flatten | None:
    """The reader of records with a text, a type of entities and lists of their places."""
    types = {_TEXT: str, _TYPE: str, _STARTS: list, _ENDS: list}
    questions = [isinstance(row.get(name), kind) for row in rows for name, kind in types.items()]
    return _answered_texts if questions and all(questions) else None


def _answered_texts(records: Iterator[Record], source: DataSource) -> Iterator[Record]:
    """A record for each text, with its words and the spans of all types."""
    source.notes.append(f"a record for each type of entities: those with equal {_TEXT!r} are one text")
    for text, group in groupby(records, key=lambda record: as_text(record.fields.get(_TEXT))):
        parts = [*group]
        spans = [_answers(part.fields) for part in parts]
        for part, listed in zip(parts, spans, strict=True):
            if listed is None:
                problem = f"places of {part.fields.get(_TYPE)!r} that are none"
                source.report_error("HW246", problem, part.line, expected=f"{_STARTS} and {_ENDS}, as long")
        if None not in spans:
            listed_spans = [span for listed in spans for span in listed or ()]
            yield Record(parts[0].line, {_TOKENS: text.split(), "spans": listed_spans})


def _answers(fields: Mapping[str, object]) -> list[JsonObject] | None:
    """The spans of a question; None if its places are none."""
    kind, starts, ends = fields.get(_TYPE), fields.get(_STARTS), fields.get(_ENDS)
    if not isinstance(starts, list) or not isinstance(ends, list) or len(starts) != len(ends):
        return None
    places = [*zip(starts, ends, strict=True)]
    if not isinstance(kind, str) or not all(type(place) is int for pair in places for place in pair):
        return None
    return [{"start": start, "end": end + 1, "label": kind} for start, end in places]
