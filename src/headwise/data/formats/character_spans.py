"""The choice of the tag column in formats with fixed column names.

Texts with character spans in JSON, as annotation tools and spaCy write them, one object per text:

    {"text": "Tom ran", "label": [[0, 3, "PER"]]}
    {"text": "Tom ran", "spans": [{"start": 0, "end": 3, "label": "PER"}]}

Spans become BIO tags of whole words: a span that begins or ends within a word covers all of the word.

Codes: HW111 no such field; HW118 a text that is none; HW246 a span that is none, or overlaps another; HW247
(findings) spans that begin or end within a word, and such as have lost it to another.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from headwise.core.errors import ConfigError
from headwise.data.columns.column_names import LABEL_NAMES, TEXT_NAMES, most_usual_column, name_rank
from headwise.data.doctor.findings import Finding
from headwise.data.files.file_source import DataSource, most_true
from headwise.data.files.text_lines import Line
from headwise.data.formats import annotation_exports as prodigy
from headwise.data.formats.jsonl import as_text, read_records
from headwise.data.formats.token_lists import sample_rows
from headwise.data.items.examples import TaggedSentence


def tag_column(requested: str | None, columns: Sequence[str], form: str) -> str:
    """The name of the tag column, by default the first one.

    Args:
        requested: The column that the user named, if any.
        columns: The tag columns of the format.
        form: The name of the format, for the message.

    Raises:
        ConfigError: There is no such column.
    """
    name = (requested or columns[0]).lower()
    if name not in columns:
        raise ConfigError(f"no tags of {form} in {requested!r}; expected one of {', '.join(columns)}")
    return name


SPAN_NAMES = ("spans", "entities", "ents", "label", "labels", "annotations", "ner")
"""Usual names of the field of spans, the most certain first."""

_FIELDS = (("start", "start_offset"), ("end", "end_offset"), ("label", "type", "labels"))
_EXPECTED = 'spans such as [0, 5, "PER"]: the first character, the one after the last, and the type'

Cut = Callable[[str], Sequence[tuple[int, int]]]
"""A tokenizer: returns the character span of each word of a text."""


class CharacterSpan(NamedTuple):
    """A character span: start, end (exclusive) and type."""

    start: int
    end: int
    type: str


def recognise(head: Sequence[Line]) -> str | None:
    """The reason why lines look like texts with spans, or None: a field with lists of spans, not all empty,
    and no field with labels of whole texts."""
    if not head or not head[0][1].lstrip().startswith(("{", "[")):
        return None
    rows = sample_rows(head)
    name = _usual_field(rows, SPAN_NAMES)
    if name is None or _usual_field(rows, TEXT_NAMES) is None:
        return None
    if any(name_rank(field, LABEL_NAMES) is not None and field != name for field in rows[0]):
        return None
    lists = [value for row in rows if isinstance(value := row.get(name), list)]
    fits = most_true(_span(span) is not None for spans in lists for span in spans)
    return f"spans of characters in {name!r}" if fits and 2 * len(lists) > len(rows) else None


def _usual_field(rows: Sequence[dict[str, object]], usual: tuple[str, ...]) -> str | None:
    """The field whose name comes first in `usual`, or None."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    place = most_usual_column(names, usual)
    return None if place is None else names[place]


def _span(raw: object) -> CharacterSpan | None:
    """A span from its JSON value, a list or an object; None if it is invalid."""
    if isinstance(raw, dict):
        raw = [next((raw[name] for name in names if name in raw), None) for names in _FIELDS]
    if not isinstance(raw, list) or len(raw) != 3:
        return None
    start, end, kind = raw
    if isinstance(kind, list) and len(kind) == 1:
        kind = kind[0]
    if type(start) is not int or type(end) is not int or not isinstance(kind, str):
        return None
    return CharacterSpan(start, end, kind.strip())


def choose_fields(
    head: Sequence[Line], source: DataSource, text: str | None, spans: str | None, *, labelled: bool
) -> tuple[str, str | None]:
    """The names of the fields of texts and of spans.

    Raises:
        DataError: HW111, there is no such field.
    """
    rows = sample_rows(head)
    names = list(dict.fromkeys(name for row in rows for name in row))
    text_field, span_field = (
        text or _usual_field(rows, TEXT_NAMES) or "",
        spans or _usual_field(rows, SPAN_NAMES),
    )
    for field, what, flag in (
        (text_field, "texts", "--token-column"),
        (span_field, "spans", "--tag-column"),
    ):
        if field not in names and (labelled or field):
            problem = f"there is no field {field!r}" if field else f"a field of {what} is not found"
            advice = f"give {flag} with one of {', '.join(map(repr, names))}"
            raise source.error("HW111", problem, advice=advice)
    if text is None or spans is None:
        note = (
            f"spans of {text_field!r} are those of {span_field!r}"
            if span_field
            else f"texts are those of {text_field!r}"
        )
        source.notes.append(f"{note} - override with --token-column/--tag-column")
    return text_field, span_field


def read_sentences(
    lines: Iterator[Line], source: DataSource, text: str, spans: str | None, cut: Cut, *, labelled: bool
) -> Iterator[TaggedSentence]:
    """The texts of a file as sentences of words with BIO tags; invalid ones are reported and left out.

    Raises:
        DataError: HW118, HW246.
    """
    moved: list[tuple[int, str]] = []
    lost: list[tuple[int, str]] = []
    records = read_records(lines, source)
    for line, fields in prodigy.accepted_tasks(records, source) if labelled else records:
        raw_text = fields.get(text)
        if not isinstance(raw_text, str | None):
            source.report_error(
                "HW118", f"the field {text!r} is {as_text(raw_text)[:40]}", line, expected="a text"
            )
            continue
        raw_text = raw_text or ""
        words, tags = tuple(cut(raw_text)), []
        try:
            if labelled or spans in fields:
                tags = ["O"] * len(words)
                for span in _in_order(fields.get(spans or ""), raw_text):
                    _tag(span, raw_text, words, tags, line, moved, lost)
        except ValueError as error:
            problem, expected = (*error.args, _EXPECTED)[:2]
            advice = "write [] for a text without spans" if fields.get(spans or "") is None else ""
            source.report_error("HW246", problem, line, expected=expected, advice=advice)
            continue
        if not words and labelled:
            source.blank += 1
            continue
        tokens = tuple(raw_text[start:end] for start, end in words)
        fields = {} if labelled else fields
        yield TaggedSentence(tokens, tuple(tags), line, text=raw_text, spans=words, fields=fields)
    if moved:
        message = "1 span begins or ends" if len(moved) == 1 else f"{len(moved):,} spans begin or end"
        message += f" within a word, first {moved[0][1]}; whole words are tagged"
        _warn(message, moved, "nothing, or move them to the ends of words", source)
    if lost:
        message = "1 span is" if len(lost) == 1 else f"{len(lost):,} spans are"
        message += f" left out, as another has the word, first {lost[0][1]}"
        _warn(message, lost, "write white space between what has two types", source)


def _in_order(raw_spans: object, text: str) -> list[CharacterSpan]:
    """The spans of a text in order of position.

    Raises:
        ValueError: A span is invalid, or two overlap. Its arguments are the problem and, optionally, the
            expected value.
    """
    if not isinstance(raw_spans, list):
        raise ValueError(f"spans that are {as_text(raw_spans)[:40] or 'null'}")
    spans = []
    for raw_span in raw_spans:
        span = _span(raw_span)
        if span is None:
            raise ValueError(f"the span {as_text(raw_span)[:60]}")
        if not 0 <= span.start < span.end <= len(text):
            raise ValueError(f"a span from {span.start} to {span.end} in {len(text):,} characters of text")
        if not span.type or not text[span.start : span.end].strip():
            what = "around no word" if span.type else "without a type"
            raise ValueError(f"a span from {span.start} to {span.end} {what}")
        spans.append(span)
    spans.sort()
    for first, second in pairwise(spans):
        if second.start < first.end:
            shown = (
                f"{text[span.start : span.end]!r} ({span.start} to {span.end})" for span in (first, second)
            )
            raise ValueError(f"spans that overlap, {' and '.join(shown)}", "one type for each word")
    return spans


def _tag(
    span: CharacterSpan,
    text: str,
    words: Sequence[tuple[int, int]],
    tags: list[str],
    line: int,
    moved: list[tuple[int, str]],
    lost: list[tuple[int, str]],
) -> None:
    """Tag the untagged words that a span touches. Spans that end within words are added to `moved`, and
    those without an untagged word to `lost`."""
    first = bisect_right(words, span.start, key=lambda word: word[1])
    stop = bisect_left(words, span.end, key=lambda word: word[0])
    touched, written = text[words[first][0] : words[stop - 1][1]], text[span.start : span.end].strip()
    shown = line, f"{written!r} in {touched!r}"
    if touched != written:
        moved.append(shown)
    free = [i for i in range(first, stop) if tags[i] == "O"]
    if not free:
        lost.append(shown)
    for i in free:
        tags[i] = ("B-" if i == free[0] else "I-") + span.type


def _warn(message: str, where: Sequence[tuple[int, str]], fix: str, source: DataSource) -> None:
    """Add a warning to the findings of the source."""
    lines = list(dict.fromkeys(line for line, _ in where))
    source.findings.append(Finding("warning", "HW247", message, source.places(lines), fix))
