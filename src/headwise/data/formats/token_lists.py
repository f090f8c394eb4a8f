"""Lists in JSON: `{"tokens": ["A", "dog"], "tags": ["DT", "NN"]}`, a sentence an object, as `datasets`
writes them.

Codes: HW111 no such list; HW118 tokens that are none; HW251 another number of tags.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, TypeGuard

from headwise.data.files import Line
from headwise.data.formats.jsonl import as_text, read_records
from headwise.data.formats.shares import most
from headwise.data.names import TEXT_NAMES, normal_name, rank
from headwise.data.options import ReadOptions
from headwise.data.sentence import Tagged
from headwise.data.source import Source

TOKEN_NAMES = ("tokens", "words")
TAG_NAMES = ("ner_tags", "tags", "labels", "ner", "upos", "pos_tags", "pos")
"""Usual names, the surest first."""

_LOOKED_AT = 50  # sentences


def recognise(head: Sequence[Line], *, labelled: bool = True) -> str | None:
    """What speaks for lists of tokens and, where they are labelled, of tags; records that have a text too
    are texts."""
    if not head or not head[0][1].lstrip().startswith(("{", "[")):
        return None
    rows = sample_rows(head)
    token = next((name for name in rows[0] if normal_name(name) in TOKEN_NAMES), None) if rows else None
    if token is None or any(rank(name, TEXT_NAMES) is not None for name in rows[0]):
        return None
    if not labelled and isinstance(rows[0][token], list):
        return f"the list {token!r}"
    tags = _beside(rows, token)
    return f"the lists {token!r} and {tags[0]!r}" if tags else None


def sample_rows(head: Sequence[Line]) -> list[dict[str, object]]:
    """The first objects of a file."""
    quiet = Source("", ReadOptions(encoding_errors="replace"), lambda error: None)
    return [record.fields for record in islice(read_records(iter(head), quiet), _LOOKED_AT)]


def _beside(rows: Sequence[dict[str, object]], token: str) -> list[str]:
    """The names of the lists that are as long as that of the tokens in most rows, those with usual names
    first."""
    names = [name for name in rows[0] if name != token] if rows else []
    as_long = [name for name in names if most(_fit(row.get(name), row.get(token)) for row in rows)]
    places = {name: rank(name, TAG_NAMES) for name in as_long}
    return sorted(as_long, key=lambda name: len(TAG_NAMES) if (at := places[name]) is None else at)


def _fit(tags: object, words: object) -> TypeGuard[list[Any]]:
    """Whether tags stand beside words, one for each."""
    if not isinstance(tags, list) or not isinstance(words, list) or len(tags) != len(words):
        return False
    return not any(tag is None or isinstance(tag, list | dict) for tag in tags)


def choose_lists(
    head: Sequence[Line], source: Source, token: str | None, tag: str | None, *, labelled: bool
) -> tuple[str, str | None, tuple[str, ...]]:
    """The names of the lists of tokens and of tags, and of the others as long.

    Raises:
        DataError: HW111, there is none.
    """
    rows = sample_rows(head)
    names = list(dict.fromkeys(name for row in rows for name in row))
    first = token or next((name for name in names if normal_name(name) in TOKEN_NAMES), "")
    beside = _beside(rows, first)
    own = tag or next(iter(beside), None)
    for asked, what, flag in ((first, "tokens", "--token-column"), (own, "tags", "--tag-column")):
        if asked not in names and (labelled or asked):
            found = f"there is no list {asked!r}" if asked else f"a list of {what} is not found"
            advice = f"give {flag} with one of {', '.join(map(repr, names))}"
            raise source.error("HW111", found, advice=advice)
    if tag is None and own is not None:
        source.notes.append(f"tags are those of the list {own!r} - override with --tag-column")
    return first, own, tuple(name for name in beside if name != own)


def read_sentences(
    lines: Iterator[Line],
    source: Source,
    token: str,
    tag: str | None,
    others: Sequence[str],
    *,
    labelled: bool,
) -> Iterator[Tagged]:
    """The sentences of some lines; one that cannot be used is reported and left out.

    Raises:
        DataError: HW118, HW251.
    """
    for line, fields in read_records(lines, source):
        words = fields.get(token)
        if not isinstance(words, list) or not all(isinstance(word, str) and word for word in words):
            found = f"the field {token!r} is {as_text(words)[:40] or 'null'}"
            source.refuse("HW118", found, line, expected="a list of words")
            continue
        tags = fields.get(tag or "")
        fits = _fit(tags, words) and "" not in tags
        if labelled and not fits:
            number = len(tags) if isinstance(tags, list) else "no"
            found = f"{number} tags in {tag!r} for {len(words)} tokens"
            if number == len(words):
                found = f"a tag in {tag!r} that is empty, or no text"
            source.refuse("HW251", found, line, expected="a tag for each token")
        elif not words and labelled:
            source.blank += 1
        else:
            columns = {name: _texts(own) for name in others if _fit(own := fields.get(name), words)}
            tagged = Tagged(tuple(words), _texts(tags) if fits else (), line, columns=columns)
            yield tagged if labelled else replace(tagged, fields=fields)


def _texts(values: Any) -> tuple[str, ...]:
    return tuple(map(as_text, values))
