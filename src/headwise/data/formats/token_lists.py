"""Token lists in JSON: `{"tokens": ["A", "dog"], "tags": ["DT", "NN"]}`, one object per sentence, as
`datasets` writes them.

Codes: HW111 no such list; HW118 tokens that are none; HW246 predictions with other spans than tags;
HW251 another number of tags.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeGuard

from headwise.data.columns.cell_values import as_text
from headwise.data.columns.column_names import LABEL_NAMES, TEXT_NAMES, name_rank, normal_name
from headwise.data.columns.file_source import DataSource, look_ahead, most_true
from headwise.data.files.text_lines import Line
from headwise.data.formats.span_values import ENTITY_EXAMPLE, SPAN_EXAMPLE
from headwise.data.formats.structured_records import read_structured, sample_rows
from headwise.data.formats.tagged_predictions import contradiction
from headwise.data.formats.unlabelled_records import labelled_records
from headwise.data.items.examples import TaggedSentence

TOKEN_NAMES = ("tokens", "words")
TAG_NAMES = (
    *("ner_tags", "tags", "labels", "ner", "tag", "bio_tags", "iob_tags", "slots", "slot_labels"),
    *("upos", "pos_tags", "pos"),
)
"""Usual names of the list of tags, the most certain first."""

_OUTSIDE = "O"  # the tag of words outside of all spans
_EXPECTED = f"a list of words beside one of their tags, {SPAN_EXAMPLE}, or {ENTITY_EXAMPLE}"
_CHOICE = "if the spans are right, give --format spans; if the tags are, give --tag-column with their name"
_MAX_COLUMNS = 100  # in which two lists of equal length are searched


def recognise(head: Sequence[Line], *, labelled: bool = True) -> str | None:
    """The reason why lines look like token lists (with tags, if labelled), or None.

    Words are a list with a usual name; or another list of texts, or a text, beside a list (or a text such
    as `DT NN VBZ`) that has an element for each word. Records with a label of the whole text are labelled
    texts instead."""
    rows = sample_rows(head)
    if not rows:
        return None
    token = _token_field(rows)
    if token is None or not labelled:
        return f"the list {token!r}" if token and isinstance(rows[0].get(token), list) else None
    tags = _parallel_lists(rows, token)
    labels = [name for name in rows[0] if name_rank(name, LABEL_NAMES) is not None and name not in tags]
    if any(isinstance(row.get(name), str | int | float) for name in labels for row in rows):
        return None
    values = [row.get(name) for name in tags[:1] for row in rows]
    if not any(map(_has_words, map(_pieces, values))) and all(isinstance(v, str) for v in values):
        return None  # a word per row, or no tags
    if isinstance(rows[0].get(token), list):
        return f"the lists {token!r} and {tags[0]!r}"
    kind = "list" if any(isinstance(value, list) for value in values) else "tags"
    return f"the words of the text {token!r} and the {kind} {tags[0]!r}"


def has_texts(head: Sequence[Line]) -> bool:
    """Whether the first records have a text beside their lists."""
    return any(name_rank(name, TEXT_NAMES) is not None for row in sample_rows(head) for name in row)


def _token_field(rows: Sequence[dict[str, object]]) -> str | None:
    """The field of the words: by its usual name, else the most varied one that has tags."""
    names = list(dict.fromkeys(name for row in rows for name in row))[:_MAX_COLUMNS]
    usual = [name for name in names if normal_name(name) in TOKEN_NAMES]
    texts = [name for name in names if name_rank(name, TEXT_NAMES) is not None]
    if usual and (not texts or _parallel_lists(rows, usual[0])):
        return usual[0]
    variety = {
        name: _variety(rows, name) for name in names if most_true(_has_words(row.get(name)) for row in rows)
    }
    for name in sorted(variety, key=lambda name: -variety[name]):
        tags = [tag for tag in _parallel_lists(rows, name) if variety[name] > _variety(rows, tag)]
        if any(_look_like_tags(rows, tag, name) for tag in tags):
            return name
    return None


def _look_like_tags(rows: Sequence[dict[str, object]], tag: str, token: str) -> bool:
    """Whether lists as long as the words are no label sets that happen to be so: a tag is O, or all lists
    are as long as the words, of three lengths or more. Texts must have fewer different tags than words, and
    not only numbers, unless they are named like tags."""
    pairs = [(_pieces(row.get(tag)), _words(row.get(token))) for row in rows]
    tagged = [(tags, words) for tags, words in pairs if isinstance(tags, list)]
    if any(_OUTSIDE in tags for tags, _ in tagged):
        return True
    if not all(_is_parallel(*pair) for pair in tagged) or len({len(tags) for tags, _ in tagged}) < 3:
        return False
    if not any(isinstance(row.get(tag), str) for row in rows):
        return True
    numbers = all(str(element).isdecimal() for tags, _ in tagged for element in tags)
    if numbers and name_rank(tag, TAG_NAMES) is None:  # such as the heads of a parse
        return False
    return 2 * _variety(rows, tag) <= _variety(rows, token)


def _has_words(value: object) -> bool:
    """Whether a value is a list or a text of several words."""
    words = _words(value)
    return isinstance(words, list) and len(words) > 1 and all(isinstance(word, str) for word in words)


def _variety(rows: Sequence[dict[str, object]], name: str) -> int:
    """The number of different elements of a list, or words of a text."""
    lists = (value for row in rows if isinstance(value := _pieces(row.get(name)), list))
    return len({as_text(element) for value in lists for element in value})


def _words(value: object) -> object:
    """The words of a sentence that a field holds as a list, or as a text with spaces between them."""
    return value.split() if isinstance(value, str) else value


def _pieces(value: object) -> object:
    """The tags of a sentence that a field holds as a list, or as a text such as `DT NN` or `O,B-PER`."""
    if isinstance(value, str) and len(words := value.split()) < 2:
        return value.strip().split(",") if words else []
    return _words(value)


def _parallel_lists(rows: Sequence[dict[str, object]], token: str) -> list[str]:
    """The names of the lists that are as long as the list of tokens in most records, usual names first. Of
    texts, those that may hold tags."""
    names = [name for name in rows[0] if name != token] if rows else []
    as_long = [
        name
        for name in names
        if most_true(
            _is_parallel(_pieces(row.get(name)), _words(row.get(token)))
            for row in rows
            if not _is_untagged(row.get(name))
        )
        and (_look_like_tags(rows, name, token) or not any(isinstance(row.get(name), str) for row in rows))
    ]
    places = {name: name_rank(name, TAG_NAMES) for name in as_long}
    return sorted(as_long, key=lambda name: len(TAG_NAMES) if (at := places[name]) is None else at)


def _is_untagged(tags: object) -> bool:
    """Whether tags are missing, or all are."""
    return tags in (None, "", []) or (isinstance(tags, list) and all(tag in (None, "") for tag in tags))


def _is_parallel(tags: object, words: object) -> TypeGuard[list[object]]:
    """Whether the values are lists with one tag per word."""
    if not isinstance(tags, list) or not isinstance(words, list) or len(tags) != len(words):
        return False
    return None not in tags and not any(isinstance(item, list | dict) for item in (*tags, *words))


def choose_lists(
    head: Sequence[Line], source: DataSource, token: str | None, tag: str | None, *, labelled: bool
) -> tuple[str, str | None, tuple[str, ...]]:
    """The names of the lists of tokens and of tags, and of further lists of the same length.

    Raises:
        DataError: HW111, there is no such list.
    """
    rows = sample_rows(head)
    names = list(dict.fromkeys(name for row in rows for name in row))
    first = token or _token_field(rows) or next((n for n in names if normal_name(n) in TOKEN_NAMES), "")
    candidates = _parallel_lists(rows, first)
    tag_list = tag or next(iter(candidates), None)
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
        words = _words(fields.get(token)) if is_text else fields.get(token)
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
        tags = _pieces(fields.get(tag or ""))
        fits = _is_parallel(tags, words) and "" not in tags
        missing = not isinstance(tags, list) or _is_untagged(tags)
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
        elif labelled and compares_spans and (why := contradiction(fields, words, _as_texts(tags))):
            source.report_error("HW246", why, line, expected="spans and tags that agree", advice=_CHOICE)
        else:
            columns = {
                name: _as_texts(values)
                for name in extra
                if _is_parallel(values := _pieces(fields.get(name)), words)
            }
            tagged = TaggedSentence(tuple(words), _as_texts(tags) if fits else (), line, columns=columns)
            yield tagged if labelled else replace(tagged, fields=fields)


def _as_texts(values: Any) -> tuple[str, ...]:
    return tuple(map(as_text, values))
