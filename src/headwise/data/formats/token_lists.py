"""Token lists in JSON: `{"tokens": ["A", "dog"], "tags": ["DT", "NN"]}`, one object per sentence, as
`datasets` writes them.

Codes: HW111 no such list; HW118 tokens that are none; HW251 another number of tags.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, TypeGuard

from headwise.data.columns.column_names import TEXT_NAMES, name_rank, normal_name
from headwise.data.columns.reading_options import ReadOptions
from headwise.data.files.file_source import DataSource, most_true
from headwise.data.files.text_lines import Line
from headwise.data.formats.jsonl import as_text, read_records
from headwise.data.items.examples import TaggedSentence

TOKEN_NAMES = ("tokens", "words")
TAG_NAMES = ("ner_tags", "tags", "labels", "ner", "upos", "pos_tags", "pos")
"""Usual names of the list of tags, the most certain first."""

_LOOKED_AT = 50  # sentences


def recognise(head: Sequence[Line], *, labelled: bool = True) -> str | None:
    """The reason why lines look like token lists (with tags, if labelled), or None.

    Records that also have a field with a text are labelled texts instead."""
    if not head or not head[0][1].lstrip().startswith(("{", "[")):
        return None
    rows = sample_rows(head)
    token = next((name for name in rows[0] if normal_name(name) in TOKEN_NAMES), None) if rows else None
    if token is None or any(name_rank(name, TEXT_NAMES) is not None for name in rows[0]):
        return None
    if not labelled and isinstance(rows[0][token], list):
        return f"the list {token!r}"
    tags = _parallel_lists(rows, token)
    return f"the lists {token!r} and {tags[0]!r}" if tags else None


def sample_rows(head: Sequence[Line]) -> list[dict[str, object]]:
    """The fields of the first objects of a file."""
    quiet = DataSource("", ReadOptions(encoding_errors="replace"), lambda error: None)
    return [record.fields for record in islice(read_records(iter(head), quiet), _LOOKED_AT)]


def _parallel_lists(rows: Sequence[dict[str, object]], token: str) -> list[str]:
    """The names of the lists that are as long as the list of tokens in most records, usual names first."""
    names = [name for name in rows[0] if name != token] if rows else []
    as_long = [
        name for name in names if most_true(_is_parallel(row.get(name), row.get(token)) for row in rows)
    ]
    places = {name: name_rank(name, TAG_NAMES) for name in as_long}
    return sorted(as_long, key=lambda name: len(TAG_NAMES) if (at := places[name]) is None else at)


def _is_parallel(tags: object, words: object) -> TypeGuard[list[object]]:
    """Whether the values are lists with one tag per word."""
    if not isinstance(tags, list) or not isinstance(words, list) or len(tags) != len(words):
        return False
    return not any(tag is None or isinstance(tag, list | dict) for tag in tags)


def choose_lists(
    head: Sequence[Line], source: DataSource, token: str | None, tag: str | None, *, labelled: bool
) -> tuple[str, str | None, tuple[str, ...]]:
    """The names of the lists of tokens and of tags, and of further lists of the same length.

    Raises:
        DataError: HW111, there is no such list.
    """
    rows = sample_rows(head)
    names = list(dict.fromkeys(name for row in rows for name in row))
    first = token or next((name for name in names if normal_name(name) in TOKEN_NAMES), "")
    candidates = _parallel_lists(rows, first)
    tag_list = tag or next(iter(candidates), None)
    for list_name, what, flag in ((first, "tokens", "--token-column"), (tag_list, "tags", "--tag-column")):
        if list_name not in names and (labelled or list_name):
            problem = f"there is no list {list_name!r}" if list_name else f"a list of {what} is not found"
            advice = f"give {flag} with one of {', '.join(map(repr, names))}"
            raise source.error("HW111", problem, advice=advice)
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
) -> Iterator[TaggedSentence]:
    """The sentences of a file; invalid ones are reported and left out.

    Raises:
        DataError: HW118, HW251.
    """
    for line, fields in read_records(lines, source):
        words = fields.get(token)
        if not isinstance(words, list) or not all(isinstance(word, str) and word for word in words):
            problem = f"the field {token!r} is {as_text(words)[:40] or 'null'}"
            source.report_error("HW118", problem, line, expected="a list of words")
            continue
        tags = fields.get(tag or "")
        fits = _is_parallel(tags, words) and "" not in tags
        if labelled and not fits:
            number = len(tags) if isinstance(tags, list) else "no"
            problem = f"{number} tags in {tag!r} for {len(words)} tokens"
            if number == len(words):
                problem = f"a tag in {tag!r} that is empty, or no text"
            source.report_error("HW251", problem, line, expected="a tag for each token")
        elif not words and labelled:
            source.blank += 1
        else:
            columns = {
                name: _as_texts(values) for name in extra if _is_parallel(values := fields.get(name), words)
            }
            tagged = TaggedSentence(tuple(words), _as_texts(tags) if fits else (), line, columns=columns)
            yield tagged if labelled else replace(tagged, fields=fields)


def _as_texts(values: Any) -> tuple[str, ...]:
    return tuple(map(as_text, values))
