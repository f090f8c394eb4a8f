"""Documents whose sentences stand in lists, from which each sentence becomes a record:

    {"sentences": [["Tom", "ran"], ["Ann", "too"]], "ner": [[[0, 0, "PER"]], [[2, 2, "PER"]]]}      DyGIE
    {"tokens": [["Tom", "ran"], ["Ann", "too"]], "tags": [["B-PER", "O"], ["B-PER", "O"]]}
    {"sentences": [{"words": ["Tom", "ran"], "named_entities": [1, 0]}]}                        OntoNotes

Spans may count the words of the sentence, or those of the document.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import accumulate
from typing import Any

from headwise.core.config import JsonMapping
from headwise.data.columns.cell_values import as_text
from headwise.data.columns.column_names import normal_name
from headwise.data.columns.file_source import DataSource, Record
from headwise.data.formats.parallel_lists import TOKEN_NAMES
from headwise.data.formats.record_fields import Flatten, Rows, list_of, objects_of
from headwise.data.formats.span_values import parse_span
from headwise.data.formats.token_spans import INCLUSIVE_TOKENS

_SENTENCES = ("sentences", "sents", "sentence", "tokenized_sentences", *TOKEN_NAMES)
"""Usual names of a list of sentences."""


def recognise(rows: Rows) -> Flatten | None:
    """The reader of documents of sentences of words, with something for each word or spans."""
    if not rows:
        return None
    if (name := _field_of_objects(rows)) is not None:
        return partial(_inner_objects, name=name)
    if not (fields := _fields_of_lists(rows)):
        return None
    words, *names = fields
    counts_document = any(_leaves_sentence(row, words, name) for row in rows for name in names)
    has_spans = any(
        map(parse_span, (raw for row in rows for name in names for raw in _parts(row.get(name))))
    )
    tokens = INCLUSIVE_TOKENS if has_spans else TOKEN_NAMES[0]
    return partial(_cut_lists, words=words, names=names, tokens=tokens, counts_document=counts_document)


def _inner_objects(records: Iterator[Record], source: DataSource, name: str) -> Iterator[Record]:
    """A record for each object in the lists of a field."""
    source.notes.append(f"the sentences of {name!r} are the records")
    for record in records:
        for sentence in objects_of(record.fields.get(name)):
            yield record._replace(fields=sentence)


def _cut_lists(
    records: Iterator[Record],
    source: DataSource,
    words: str,
    names: Sequence[str],
    tokens: str,
    *,
    counts_document: bool,
) -> Iterator[Record]:
    """A record for each list of words, which become the field `tokens`."""
    source.notes.append(
        f"the lists of {words!r} are sentences, with those of {', '.join(map(repr, names))}"
    )
    for record in records:
        cut = list_of(record.fields.get(words))
        if not cut or not all(map(_are_words, cut)):
            problem = f"the field {words!r} is {as_text(record.fields.get(words))[:40]}"
            source.report_error("HW118", problem, record.line, expected="lists of the words of sentences")
            continue
        starts = accumulate((len(sentence) for sentence in cut[:-1]), initial=0)
        for number, (sentence, start) in enumerate(zip(cut, starts, strict=True)):
            fields: dict[str, object] = {tokens: sentence}
            for name in names:
                part = next(iter(list_of(record.fields.get(name))[number : number + 1]), None)
                if counts_document and isinstance(part, list):
                    part = [_moved_span(raw, -start) for raw in part]
                fields[name] = part
            yield record._replace(fields=fields)


def _field_of_objects(rows: Rows) -> str | None:
    """The field of the sentences, where these are objects with words and a list that is as long."""
    for name in rows[0]:
        objects = [sentence for row in rows for sentence in list_of(row.get(name))]
        if objects and normal_name(name) in _SENTENCES and all(map(_is_sentence, objects)):
            return name
    return None


def _is_sentence(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    words = next((part for name, part in value.items() if normal_name(name) in TOKEN_NAMES), None)
    lists = [part for part in value.values() if isinstance(part, list) and part is not words]
    return isinstance(words, list) and _are_words(words) and any(len(part) == len(words) for part in lists)


def _fields_of_lists(rows: Rows) -> list[str]:
    """The field of sentences that are lists of words, and those with a list for each of them: of something
    for each word, or of spans; none if there are not both."""
    words = next((name for name in rows[0] if normal_name(name) in _SENTENCES), None)
    if words is None or not all(_are_words(part) for row in rows for part in list_of(row.get(words))):
        return []
    names = [
        name
        for name in rows[0]
        if name != words and all(_fits(list_of(row.get(words)), row.get(name)) for row in rows)
    ]
    full = [name for name in names if any(part for row in rows for part in list_of(row.get(name)))]
    return [words, *full] if full else []


def _fits(words: Sequence[Any], value: object) -> bool:
    """Whether a value has a list for each sentence: of something for each word, or of spans of words."""
    if not isinstance(value, list) or len(value) != len(words):
        return False
    if not all(isinstance(part, list) for part in value):
        return False
    as_long = all(len(part) == len(sentence) for part, sentence in zip(value, words, strict=True))
    parts = _parts(value)
    if any(isinstance(element, list | dict) for element in parts):
        return all(parse_span(element) is not None for element in parts)
    return as_long or not parts


def _leaves_sentence(row: JsonMapping, words: str, name: str) -> bool:
    """Whether a span ends behind its sentence, as it counts the words of the document."""
    pairs = zip(list_of(row.get(words)), list_of(row.get(name)), strict=False)
    return any(
        (span := parse_span(raw)) is not None and max(span.start + 1, span.end) > len(sentence)
        for sentence, listed in pairs
        for raw in list_of(listed)
    )


def _moved_span(raw: object, by: int) -> object:
    """A span that begins and ends so many words later; another value itself."""
    span = parse_span(raw)
    return raw if span is None else {"start": span.start + by, "end": span.end + by, "label": span.type}


def _are_words(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) for word in value)


def _parts(value: object) -> list[Any]:
    """The elements of the lists in a list."""
    return [element for part in list_of(value) for element in list_of(part)]
