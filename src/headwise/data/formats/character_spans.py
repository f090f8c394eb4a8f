"""Texts with character spans in JSON, as annotation tools and spaCy write them, one object per text:

    {"text": "Tom ran", "label": [[0, 3, "PER"]]}
    {"text": "Tom ran", "spans": [{"start": 0, "end": 3, "label": "PER"}]}

Spans become BIO tags of whole words: a span that begins or ends within a word covers all of the word.
Where the text of a span stands beside its offsets, both must agree (`headwise.data.formats.span_offsets`).

Pipelines write single words or pieces of them, whose types are tags; they are joined to spans of `PER`:

    {"entity": "B-PER", "word": "Tom", "start": 0, "end": 3}, {"entity": "I-PER", "word": "Lee", ...}

Codes: HW111 no such field; HW118 a text that is none; HW246 a span that is none, overlaps another or
differs from its text; HW247 (findings) spans that begin or end within a word, or have lost it to another.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise

from headwise.data.columns.cell_values import as_text
from headwise.data.columns.column_names import LABEL_NAMES, TEXT_NAMES, name_rank
from headwise.data.columns.file_source import DataSource, most_true
from headwise.data.columns.item_options import OverlapPolicy
from headwise.data.files.text_lines import Line
from headwise.data.findings import Finding
from headwise.data.formats.entity_rows import are_opinions, is_header
from headwise.data.formats.prodigy import is_task
from headwise.data.formats.record_fields import Rows, field_names, list_of, usual_field
from headwise.data.formats.span_offsets import (
    CHARACTERS,
    CharacterSpan,
    OffsetUnit,
    Words,
    mismatch,
    resolve_offsets,
    usual_unit,
)
from headwise.data.formats.span_overlaps import ADVICE, left_out_note, without_overlaps
from headwise.data.formats.span_values import SPAN_EXAMPLE, SPAN_NAMES, parse_span, with_one_type
from headwise.data.formats.structured_records import headers, read_structured, sample_rows
from headwise.data.formats.tag_checks import marks_entities, span_type
from headwise.data.formats.unlabelled_records import labelled_records
from headwise.data.items.examples import TaggedSentence

_SUGGESTED = ("prediction", "predictions", "suggestion", "suggestions")
_OUTSIDE = "O"
_BEGINS = ("B", "S", "U")


def recognise(head: Sequence[Line], *, beside_labels: bool = False) -> str | None:
    """The reason why lines look like texts with spans, or None: a field with lists of spans, not all empty,
    and no field with labels of whole texts, unless spans are read `beside_labels`."""
    rows = sample_rows(head)
    name = _span_field(rows)
    if name is None or _text_field(rows) is None:
        return None
    labels = [field for field in rows[0] if name_rank(field, LABEL_NAMES) is not None and field != name]
    if not beside_labels and any(row.get(field) not in (None, "", []) for field in labels for row in rows):
        return None
    lists = [value for row in rows if isinstance(value := row.get(name), list)]
    parsed = [parse_span(span) for spans in lists for span in spans]
    types = {span.type for span in parsed if span is not None}
    if not beside_labels and are_opinions(types) and any(map(is_header, headers([head[0][1]]))):
        return None
    fits = most_true(span is not None for span in parsed)
    full = sum(row.get(name) not in (None, "") for row in rows)
    return f"spans of characters in {name!r}" if fits and 2 * len(lists) > full else None


def _text_field(rows: Rows) -> str | None:
    """The field of the texts: by its usual name, else the only field of texts of several words; or None."""
    names = field_names(rows)
    if (usual := usual_field(names, TEXT_NAMES)) is not None:
        return usual
    texts = [name for name in names if most_true(_words_in(row.get(name)) > 2 for row in rows)]
    return texts[0] if len(texts) == 1 else None


def _words_in(value: object) -> int:
    return len(value.split()) if isinstance(value, str) else 0


def _span_field(rows: Rows) -> str | None:
    """The field of the spans: the one with a usual name, if it has spans anywhere, else another that has;
    or None."""
    with_spans = [
        name
        for name in field_names(rows)
        if name.lower() not in _SUGGESTED
        and any(parse_span(span) is not None for row in rows for span in list_of(row.get(name)))
    ]
    return usual_field(with_spans, SPAN_NAMES) or next(iter(with_spans), None)


def choose_fields(
    head: Sequence[Line], source: DataSource, text: str | None, spans: str | None, *, labelled: bool
) -> tuple[str, str | None]:
    """The names of the fields of texts and of spans.

    Raises:
        DataError: HW111, there is no such field.
    """
    rows = sample_rows(head)
    names = field_names(rows)
    text_field = text or _text_field(rows) or ""
    span_field = spans or _span_field(rows) or usual_field(names, SPAN_NAMES)
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


def offset_unit(head: Sequence[Line], text: str, spans: str | None, words: Words) -> OffsetUnit:
    """The usual unit of the offsets of a file, from its first records."""
    texts = []
    for row in sample_rows(head):
        content, listed = row.get(text), map(parse_span, list_of(row.get(spans or "")))
        if isinstance(content, str) and (valid := [span for span in listed if span is not None]):
            texts.append((content, valid))
    return usual_unit(texts, words)


def hold_pieces(head: Sequence[Line], spans: str | None, source: DataSource) -> bool:
    """Whether the spans of a file have tags for types (`B-PER`), which is noted."""
    listed = [raw for row in sample_rows(head) for raw in list_of(row.get(spans or ""))]
    pieces = are_pieces(span.type for raw in listed if (span := parse_span(raw)) is not None)
    if pieces:
        source.notes.append(f"the types in {spans!r} are tags such as B-PER: spans that go on are joined")
    return pieces


def are_pieces(types: Iterable[str]) -> bool:
    """Whether the types of all spans are tags."""
    counts = Counter(types)
    return marks_entities(counts) and all("-" in name for name in counts if name != _OUTSIDE)


def joined_pieces(spans: Sequence[CharacterSpan], text: str) -> list[CharacterSpan]:
    """The spans that pieces stand for, in order of position. A piece goes on with the span before it unless
    its tag begins one, its type is another, or words stand between them."""
    joined = list[CharacterSpan]()
    for span in sorted(spans, key=lambda span: span[:2]):
        if span.type == _OUTSIDE:
            continue
        kind = span_type(span.type)
        previous = joined[-1] if joined else None
        if (
            previous is None
            or span.type.startswith(_BEGINS)
            or previous.type != kind
            or text[previous.end : span.start].strip()
        ):
            joined.append(CharacterSpan(span.start, span.end, kind))
        else:
            joined[-1] = previous._replace(end=max(previous.end, span.end))
    return joined


def read_sentences(
    lines: Iterator[Line],
    source: DataSource,
    text: str,
    spans: str | None,
    words: Words,
    unit: OffsetUnit = CHARACTERS,
    *,
    labelled: bool,
    pieces: bool = False,
) -> Iterator[TaggedSentence]:
    """The texts of a file as sentences of words with BIO tags; invalid ones are reported and left out.

    A text without the field of spans has none. A null there is no answer: it is an error, or left out if
    the options say so. `pieces` are spans whose types are tags.

    Raises:
        DataError: HW118, HW246.
    """
    moved: list[tuple[int, str]] = []
    lost: list[tuple[int, str]] = []
    absent, units, overlapping = 0, Counter[str](), 0
    records = read_structured(lines, source)
    for line, fields in labelled_records(records, source, spans=True) if labelled else records:
        raw_text = fields.get(text)
        if not isinstance(raw_text, str | None):
            source.report_error(
                "HW118", f"the field {text!r} is {as_text(raw_text)[:40]}", line, expected="a text"
            )
            continue
        if raw_text is None and (raw_text := source.null_text(text, line)) is None:
            continue
        places, tags = tuple(words(raw_text)), []
        raw_spans = fields.get(spans or "", [])
        is_absent = spans not in fields and not is_task(fields)
        if labelled and (is_absent or raw_spans in (None, "")) and source.skips_unanswered:
            source.counts.unlabelled += 1
            continue
        absent += is_absent
        try:
            if labelled or spans in fields:
                tags = ["O"] * len(places)
                ordered, counted, left_out = _in_order(
                    raw_spans, raw_text, unit, source.overlap_policy, pieces=pieces
                )
                overlapping += left_out
                units[counted.name] += counted != CHARACTERS and bool(ordered)
                for span in ordered:
                    _tag(span, raw_text, places, tags, line, moved, lost)
        except ValueError as error:
            problem, expected, advice = (*error.args, "", "")[:3]
            expected = expected or SPAN_EXAMPLE
            if raw_spans in (None, ""):
                advice = "give --empty-labels skip to leave out texts that nobody has annotated"
            source.report_error("HW246", problem, line, expected=expected, advice=advice)
            continue
        if not places and labelled:
            source.counts.blank += 1
            continue
        tokens = tuple(raw_text[start:end] for start, end in places)
        fields = {} if labelled else fields
        yield TaggedSentence(tokens, tuple(tags), line, text=raw_text, spans=places, fields=fields)
    if overlapping:
        source.notes.append(left_out_note(overlapping, source.overlap_policy))
    for name, count in (+units).items():
        source.notes.append(f"texts whose offsets count {name}, and are converted: {count:,}")
    if absent and labelled:
        source.notes.append(f"texts without the field {spans!r}, which therefore have no spans: {absent:,}")
    if moved:
        message = "1 span begins or ends" if len(moved) == 1 else f"{len(moved):,} spans begin or end"
        message += f" within a word, first {moved[0][1]}; whole words are tagged"
        _warn(message, moved, "nothing, or move them to the ends of words", source)
    if lost:
        message = "1 span is" if len(lost) == 1 else f"{len(lost):,} spans are"
        message += f" left out, as another has the word, first {lost[0][1]}"
        _warn(message, lost, "write white space between what has two types", source)


def _in_order(
    raw_spans: object, text: str, unit: OffsetUnit, policy: OverlapPolicy, *, pieces: bool = False
) -> tuple[list[CharacterSpan], OffsetUnit, int]:
    """The spans of a text in order of position, in characters, the unit of their offsets in the file, and
    the number of those that are left out as they overlap others.

    Raises:
        ValueError: A span is invalid, differs from its text, or overlaps another. Its arguments are the
            problem and, optionally, the expected value and the advice.
    """
    if not isinstance(raw_spans, list):
        raise ValueError(f"spans that are {as_text(raw_spans)[:40] or 'null'}")
    spans = []
    for raw_span in chain.from_iterable(map(with_one_type, raw_spans)):
        span = parse_span(raw_span)
        if span is None:
            raise ValueError(f"the span {as_text(raw_span)[:60]}")
        spans.append(span)
    spans, unit = resolve_offsets(spans, text, unit)
    for span in spans:
        if not 0 <= span.start < span.end <= len(text):
            raise ValueError(f"a span from {span.start} to {span.end} in {len(text):,} characters of text")
        if not span.type or not text[span.start : span.end].strip():
            what = "around no word" if span.type else "without a type"
            raise ValueError(f"a span from {span.start} to {span.end} {what}")
    if problem := mismatch(spans, text):
        raise ValueError(problem, "offsets of the text beside them")
    spans = [_without_margins(span, text) for span in spans]
    spans = joined_pieces(spans, text) if pieces else spans
    distinct = [*dict.fromkeys(CharacterSpan(*span[:3]) for span in spans)]
    spans = without_overlaps(distinct, policy)
    for first, second in pairwise(spans):
        if first[:2] == second[:2]:
            problem = f"a span with the types {first.type!r} and {second.type!r}: "
            problem += f"{text[first.start : first.end]!r} ({first.start} to {first.end})"
            raise ValueError(problem, "one type for each word", ADVICE)
        if second.start < first.end:
            shown = (
                f"{text[span.start : span.end]!r} ({span.start} to {span.end})" for span in (first, second)
            )
            raise ValueError(f"spans that overlap, {' and '.join(shown)}", "one type for each word", ADVICE)
    return spans, unit, len(distinct) - len(spans)


def _without_margins(span: CharacterSpan, text: str) -> CharacterSpan:
    """A span without the white space at its ends, which annotators select with it."""
    covered = text[span.start : span.end]
    start = span.end - len(covered.lstrip())
    return span._replace(start=start, end=start + len(covered.strip()))


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
    lines = list(dict.fromkeys(line for line, _ in where))
    source.findings.append(Finding("warning", "HW247", message, source.places(lines), fix))
