"""Token lists in JSON: `{"tokens": ["A", "dog"], "tags": ["DT", "NN"]}`, one object per sentence, as
`datasets` writes them.

Predictions of taggers (`headwise predict --output found.jsonl`) have their spans twice, as tags of words
and with their characters. Corrections of the one leave the other as it was.

Codes: HW111 no such list; HW118 tokens that are none; HW246 predictions with other spans than tags;
HW251 another number of tags.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from headwise.data.columns.cell_values import as_text
from headwise.data.columns.column_names import LABEL_NAMES, TEXT_NAMES, name_rank, normal_name
from headwise.data.columns.file_source import DataSource, look_ahead
from headwise.data.files.text_lines import Line
from headwise.data.formats.parallel_lists import (
    TOKEN_NAMES,
    ParallelLists,
    has_words,
    is_parallel,
    is_untagged,
    pieces_of,
    words_of,
)
from headwise.data.formats.record_fields import field_names
from headwise.data.formats.span_values import ENTITY_EXAMPLE, SPAN_EXAMPLE, parse_span
from headwise.data.formats.structured_records import read_structured, sample_rows
from headwise.data.formats.unlabelled_records import labelled_records
from headwise.data.items.examples import TaggedSentence
from headwise.metrics.tag_schemes import read_spans

_EXPECTED = f"a list of words beside one of their tags, {SPAN_EXAMPLE}, or {ENTITY_EXAMPLE}"
_NOT_COUNTED = "-100"
"""What losses of transformers leave out."""
_PREDICTION = frozenset(("words", "tags", "probabilities", "spans"))
_Place = tuple[int, int, str]
_CHOICE = "if the spans are right, give --format spans; if the tags are, give --tag-column with their name"


def recognise(head: Sequence[Line], *, labelled: bool = True) -> str | None:
    """The reason why lines look like token lists (with tags, if labelled), or None.

    Words are a list with a usual name; or another list of texts, or a text, beside a list (or a text such
    as `DT NN VBZ`) that has an element for each word. Records with a label of the whole text are labelled
    texts instead."""
    rows = sample_rows(head)
    if not rows:
        return None
    lists = ParallelLists(rows)
    token = lists.token_field()
    if token is None or not labelled:
        return f"the list {token!r}" if token and isinstance(rows[0].get(token), list) else None
    tags = lists.tag_fields(token)
    labels = [name for name in rows[0] if name_rank(name, LABEL_NAMES) is not None and name not in tags]
    if any(isinstance(row.get(name), str | int | float) for name in labels for row in rows):
        return None
    values = [row.get(name) for name in tags[:1] for row in rows]
    if not any(map(has_words, map(pieces_of, values))) and all(isinstance(v, str) for v in values):
        return None  # a word per row, or no tags
    if isinstance(rows[0].get(token), list):
        return f"the lists {token!r} and {tags[0]!r}"
    kind = "list" if any(isinstance(value, list) for value in values) else "tags"
    return f"the words of the text {token!r} and the {kind} {tags[0]!r}"


def has_texts(head: Sequence[Line]) -> bool:
    """Whether the first records have a text beside their lists."""
    return any(name_rank(name, TEXT_NAMES) is not None for row in sample_rows(head) for name in row)


def choose_lists(
    head: Sequence[Line], source: DataSource, token: str | None, tag: str | None, *, labelled: bool
) -> tuple[str, str | None, tuple[str, ...]]:
    """The names of the lists of tokens and of tags, and of further lists of the same length.

    Raises:
        DataError: HW111, there is no such list.
    """
    rows = sample_rows(head)
    names = field_names(rows)
    lists = ParallelLists(rows)
    first = token or lists.token_field() or next((n for n in names if normal_name(n) in TOKEN_NAMES), "")
    candidates = lists.tag_fields(first)
    tag_list = tag or next(iter(candidates), None)
    if not tag and lists.holds_numbers(tag_list):  # beside which their names may stand
        tag_list = next(filter(lists.marks_spans, candidates), tag_list)
    for list_name, what, flag in ((first, "tokens", "--token-column"), (tag_list, "tags", "--tag-column")):
        if list_name not in names and (labelled or list_name):
            problem = f"there is no list {list_name!r}" if list_name else f"a list of {what} is not found"
            advice = f"give {flag} with one of {', '.join(map(repr, names))}"
            raise source.error("HW111", problem, expected="" if list_name else _EXPECTED, advice=advice)
    if tag is None and tag_list is not None:
        source.notes.append(f"tags are those of the list {tag_list!r} - override with --tag-column")
    return first, tag_list, tuple(name for name in candidates if name != tag_list)


def read_sentences(
    lines: Iterator[Line],
    source: DataSource,
    token: str,
    tag: str | None,
    extra: Sequence[str],
    *,
    labelled: bool,
    compares_spans: bool = True,
) -> Iterator[TaggedSentence]:
    """The sentences of a file; invalid ones are reported and left out.

    With `compares_spans`, predictions whose spans contradict their tags are invalid.

    Raises:
        DataError: HW118, HW246, HW251.
    """
    records = read_structured(lines, source)
    first, records = look_ahead(records, count=1)
    is_text = bool(first) and isinstance(first[0].fields.get(token), str)
    for line, fields in labelled_records(records, source, spans=True) if labelled else records:
        words = words_of(fields.get(token)) if is_text else fields.get(token)
        if words is None:
            if source.null_text(token, line) is None:
                continue
            words = []
        if (
            isinstance(words, list)
            and source.options.null_texts == "skip"
            and any(word in (None, "") for word in words)
        ):
            source.counts.skipped_nulls += 1
            continue
        if labelled and not words and not fields.get(tag or ""):
            source.counts.blank += 1
            continue
        if not isinstance(words, list) or not all(isinstance(word, str) and word for word in words):
            problem = f"the field {token!r} is {as_text(words)[:40]}"
            advice = "--null-texts skip leaves such rows out" if isinstance(words, list) else ""
            source.report_error("HW118", problem, line, expected="a list of words", advice=advice)
            continue
        tags = pieces_of(fields.get(tag or ""))
        if labelled and isinstance(tags, list) and {*map(as_text, tags)} >= {_NOT_COUNTED}:
            problem = f"the tag {_NOT_COUNTED} in {tag!r}, which says that a word or piece does not count"
            advice = "write the words and tags from before they were cut into pieces for a model"
            source.report_error("HW251", problem, line, expected="a tag for each token", advice=advice)
            continue
        fits = is_parallel(tags, words) and "" not in tags
        missing = not isinstance(tags, list) or is_untagged(tags)
        if labelled and not fits and missing and source.skips_unanswered:
            source.counts.unlabelled += 1
        elif labelled and not fits:
            number = len(tags) if isinstance(tags, list) else "no"
            problem = f"{number} tags in {tag!r} for {len(words)} tokens"
            if number == len(words):
                problem = f"a tag in {tag!r} that is empty, or no text"
            skip = (
                "give --empty-labels skip to leave out sentences that nobody has tagged" if missing else ""
            )
            source.report_error("HW251", problem, line, expected="a tag for each token", advice=skip)
        elif not words and labelled:
            source.counts.blank += 1
        elif labelled and compares_spans and (why := _contradiction(fields, words, _as_texts(tags))):
            source.report_error("HW246", why, line, expected="spans and tags that agree", advice=_CHOICE)
        else:
            columns = {
                name: _as_texts(values)
                for name in extra
                if is_parallel(values := pieces_of(fields.get(name)), words)
            }
            tagged = TaggedSentence(tuple(words), _as_texts(tags) if fits else (), line, columns=columns)
            yield tagged if labelled else replace(tagged, fields=fields)


def _as_texts(values: Any) -> tuple[str, ...]:
    return tuple(map(as_text, values))


def _contradiction(fields: Mapping[str, object], words: Sequence[str], tags: Sequence[str]) -> str:
    """How the spans of a prediction differ from its tags, as one of them was corrected.

    "" if they do not, if the record is no prediction, or if its text is unknown."""
    raw_spans = fields.get("spans")
    if not fields.keys() >= _PREDICTION or not isinstance(raw_spans, list):
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
