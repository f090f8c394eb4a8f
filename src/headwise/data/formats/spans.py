"""Texts with spans of characters in JSON, as annotators and spaCy write them, an object a text:

    {"text": "Tom ran", "label": [[0, 3, "PER"]]}
    {"text": "Tom ran", "spans": [{"start": 0, "end": 3, "label": "PER"}]}

A span is tagged in BIO, whole words always: one that begins or ends within a word has all of it.

Codes: HW111 no such field; HW118 a text that is none; HW246 a span that is none, or overlaps another; HW247
(findings) spans that begin or end within a word, and such as have lost it to another.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from headwise.data.diagnosis import Finding
from headwise.data.files import Line
from headwise.data.formats import prodigy
from headwise.data.formats.jsonl import as_text, read_records
from headwise.data.formats.shares import most
from headwise.data.formats.token_lists import sample_rows
from headwise.data.names import LABEL_NAMES, TEXT_NAMES, rank, surest
from headwise.data.sentence import Tagged
from headwise.data.source import Source

SPAN_NAMES = ("spans", "entities", "ents", "label", "labels", "annotations", "ner")
"""Usual names of the field, the surest first."""

_FIELDS = (("start", "start_offset"), ("end", "end_offset"), ("label", "type", "labels"))
_EXPECTED = 'spans such as [0, 5, "PER"]: the first character, the one after the last, and the type'

Cut = Callable[[str], Sequence[tuple[int, int]]]
"""Where the words of a text stand."""


class Span(NamedTuple):
    """The first character, the one after the last, and the type."""

    start: int
    end: int
    type: str


def recognise(head: Sequence[Line]) -> str | None:
    """What speaks for texts with spans: a field with lists of nothing else, of which not all are empty, and
    no labels of whole texts beside it."""
    if not head or not head[0][1].lstrip().startswith(("{", "[")):
        return None
    rows = sample_rows(head)
    name = _usual(rows, SPAN_NAMES)
    if name is None or _usual(rows, TEXT_NAMES) is None:
        return None
    if any(rank(other, LABEL_NAMES) is not None and other != name for other in rows[0]):
        return None
    lists = [own for row in rows if isinstance(own := row.get(name), list)]
    fits = most(_span(own) is not None for spans in lists for own in spans)
    return f"spans of characters in {name!r}" if fits and 2 * len(lists) > len(rows) else None


def _usual(rows: Sequence[dict[str, object]], usual: tuple[str, ...]) -> str | None:
    """The field with the surest of some names."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    found = surest(names, usual)
    return None if found is None else names[found]


def _span(given: object) -> Span | None:
    """A span as it is written."""
    if isinstance(given, dict):
        given = [next((given[name] for name in names if name in given), None) for names in _FIELDS]
    if not isinstance(given, list) or len(given) != 3:
        return None
    start, end, kind = given
    if isinstance(kind, list) and len(kind) == 1:
        kind = kind[0]
    if type(start) is not int or type(end) is not int or not isinstance(kind, str):
        return None
    return Span(start, end, kind.strip())


def choose_fields(
    head: Sequence[Line], source: Source, text: str | None, spans: str | None, *, labelled: bool
) -> tuple[str, str | None]:
    """The names of the fields of texts and of spans.

    Raises:
        DataError: HW111, there is none.
    """
    rows = sample_rows(head)
    names = list(dict.fromkeys(name for row in rows for name in row))
    own, beside = text or _usual(rows, TEXT_NAMES) or "", spans or _usual(rows, SPAN_NAMES)
    for asked, what, flag in ((own, "texts", "--token-column"), (beside, "spans", "--tag-column")):
        if asked not in names and (labelled or asked):
            found = f"there is no field {asked!r}" if asked else f"a field of {what} is not found"
            advice = f"give {flag} with one of {', '.join(map(repr, names))}"
            raise source.error("HW111", found, advice=advice)
    if text is None or spans is None:
        told = f"spans of {own!r} are those of {beside!r}" if beside else f"texts are those of {own!r}"
        source.notes.append(f"{told} - override with --token-column/--tag-column")
    return own, beside


def read_sentences(
    lines: Iterator[Line], source: Source, text: str, spans: str | None, cut: Cut, *, labelled: bool
) -> Iterator[Tagged]:
    """The texts of some lines, each cut into words; one that cannot be used is reported and left out.

    Raises:
        DataError: HW118, HW246.
    """
    moved: list[tuple[int, str]] = []
    lost: list[tuple[int, str]] = []
    records = read_records(lines, source)
    for line, fields in prodigy.accepted(records, source) if labelled else records:
        own = fields.get(text)
        if not isinstance(own, str | None):
            source.refuse("HW118", f"the field {text!r} is {as_text(own)[:40]}", line, expected="a text")
            continue
        own = own or ""
        words, tags = tuple(cut(own)), []
        try:
            if labelled or spans in fields:
                tags = ["O"] * len(words)
                for span in _in_order(fields.get(spans or ""), own):
                    _tag(span, own, words, tags, line, moved, lost)
        except ValueError as error:
            found, expected = (*error.args, _EXPECTED)[:2]
            advice = "write [] for a text without spans" if fields.get(spans or "") is None else ""
            source.refuse("HW246", found, line, expected=expected, advice=advice)
            continue
        if not words and labelled:
            source.blank += 1
            continue
        tokens = tuple(own[start:end] for start, end in words)
        fields = {} if labelled else fields
        yield Tagged(tokens, tuple(tags), line, text=own, spans=words, fields=fields)
    if moved:
        told = "1 span begins or ends" if len(moved) == 1 else f"{len(moved):,} spans begin or end"
        told += f" within a word, first {moved[0][1]}; whole words are tagged"
        _warn(told, moved, "nothing, or move them to the ends of words", source)
    if lost:
        told = "1 span is" if len(lost) == 1 else f"{len(lost):,} spans are"
        told += f" left out, as another has the word, first {lost[0][1]}"
        _warn(told, lost, "write white space between what has two types", source)


def _in_order(given: object, text: str) -> list[Span]:
    """The spans of a text by their places.

    Raises:
        ValueError: One is none, or two overlap: what was found, and perhaps what was expected.
    """
    if not isinstance(given, list):
        raise ValueError(f"spans that are {as_text(given)[:40] or 'null'}")
    found = []
    for own in given:
        span = _span(own)
        if span is None:
            raise ValueError(f"the span {as_text(own)[:60]}")
        if not 0 <= span.start < span.end <= len(text):
            raise ValueError(f"a span from {span.start} to {span.end} in {len(text):,} characters of text")
        if not span.type or not text[span.start : span.end].strip():
            what = "around no word" if span.type else "without a type"
            raise ValueError(f"a span from {span.start} to {span.end} {what}")
        found.append(span)
    found.sort()
    for one, other in pairwise(found):
        if other.start < one.end:
            shown = (f"{text[own.start : own.end]!r} ({own.start} to {own.end})" for own in (one, other))
            raise ValueError(f"spans that overlap, {' and '.join(shown)}", "one type for each word")
    return found


def _tag(
    span: Span,
    text: str,
    words: Sequence[tuple[int, int]],
    tags: list[str],
    line: int,
    moved: list[tuple[int, str]],
    lost: list[tuple[int, str]],
) -> None:
    """Tag the words that a span touches and no other has; note what is not as it was written."""
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


def _warn(told: str, where: Sequence[tuple[int, str]], fix: str, source: Source) -> None:
    lines = list(dict.fromkeys(line for line, _ in where))
    source.findings.append(Finding("warning", "HW247", told, source.places(lines), fix))
