"""Entities that are marked within their text, as people, corpora, assistants and language models do:

    [Tom](PER) met Ann                     <PER>Tom</PER> met Ann
    [PER Tom] met Ann                      <ENAMEX TYPE="PER">Tom</ENAMEX> met Ann
    [name : Tom] met Ann                   (MASSIVE)

The marks are taken out, and become spans of what remains. The texts are lines, or in a column of a table.

Code: HW246, a mark within another, or without an end.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from headwise.core.config import JsonObject
from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.columns.column_names import LABEL_NAMES, TEXT_NAMES, name_rank
from headwise.data.columns.file_source import DataSource, Record
from headwise.data.files.text_lines import Line, without_returns
from headwise.data.formats import csv, fasttext, label_text, tsv
from headwise.data.formats.record_fields import Flatten, Rows, field_names, usual_field

_TEXT, _SPANS = "text", "spans"
"""The fields that the records get."""

_NAME = r"[A-Za-z][\w-]{0,40}"
_STYLES = {
    "[text](TYPE)": lazy_pattern(rf"\[(?P<text>[^\[\]]+)\]\((?P<name>{_NAME})\)"),
    "<TYPE>text</TYPE>": lazy_pattern(rf"<(?P<name>{_NAME})>(?P<text>[^<>]+)</(?P=name)>"),
    '<TAG TYPE="TYPE">text</TAG>': lazy_pattern(
        rf"<(?P<tag>{_NAME})\s+TYPE\s*=\s*[\"']{{0,2}}(?P<name>{_NAME})[\"']{{0,2}}\s*>(?P<text>[^<>]+)</(?P=tag)>",
        re.IGNORECASE,
    ),
    "[type : text]": lazy_pattern(rf"\[(?P<name>{_NAME}) : (?P<text>[^\[\]]+)\]"),
    "[TYPE text]": lazy_pattern(r"\[(?P<name>[A-Z][A-Z_-]+) (?P<text>[^\[\]]*[a-z\d][^\[\]]*)\]"),
}
_HTML = {
    *("a", "abbr", "b", "big", "blockquote", "body", "br", "center", "cite", "code", "div", "em", "font"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "head", "html", "i", "img", "kbd", "li", "ol", "p", "pre", "q"),
    *("s", "small", "span", "strike", "strong", "sub", "sup", "table", "td", "th", "title", "tr", "tt"),
    *("u", "ul"),
}
"""Elements of pages, which mark no entities."""
_ARGUMENT = lazy_pattern(r"(?:e|ent|entity|arg|[xy])[-_]?\d|head|tail|subj|obj|h|t|x|y")
"""Names of what a relation is between, in lower case."""

_LEAST_LINES, _LEAST_FRACTION = 2, 0.2  # of the texts must have a mark
_LINES = 200  # that are looked at


def style_of(texts: Sequence[str]) -> str | None:
    """The style in which entities are marked in several texts, with names that recur; None if in none."""
    texts = texts[:_LINES]
    for style, pattern in _STYLES.items():
        marks = [[mark["name"] for mark in pattern.finditer(text)] for text in texts]
        marked, names = sum(map(bool, marks)), Counter(name for line in marks for name in line)
        enough = marked >= max(_LEAST_LINES, _LEAST_FRACTION * len(texts))
        if enough and 2 * len(names) <= sum(names.values()) + 1 and not any(map(_is_no_type, names)):
            return style
    return None


def _is_no_type(name: str) -> bool:
    return name.lower() in _HTML or _ARGUMENT.fullmatch(name.lower()) is not None


def are_marked_lines(texts: Sequence[str]) -> bool:
    """Whether lines are texts with marked entities, and no table or labelled texts."""
    formats = (tsv, fasttext, label_text, csv)
    if style_of(texts) is None or any(form.recognise(texts) for form in formats):
        return False
    return not csv.looks_like_rows(texts)


def records_of_lines(lines: Iterator[Line]) -> Iterator[Record]:
    """A record for each line that is not blank."""
    return (Record(number, {_TEXT: text}) for number, text in without_returns(lines) if text.strip())


def recognise(rows: Rows) -> Flatten | None:
    """The reader of a field of texts with marked entities, if records have no lists or objects, and no
    labels."""
    names = field_names(rows)
    text_field = usual_field(names, TEXT_NAMES)
    if text_field is None or any(isinstance(value, list | dict) for row in rows for value in row.values()):
        return None
    labels = [name for name in names if name_rank(name, LABEL_NAMES) is not None]
    if any(row.get(name) not in (None, "") for row in rows for name in labels):
        return None
    style = style_of([text for row in rows if isinstance(text := row.get(text_field), str)])
    return partial(_texts_with_spans, field=text_field, style=style) if style else None


def _texts_with_spans(
    records: Iterator[Record], source: DataSource, field: str, style: str
) -> Iterator[Record]:
    """The records with spans and with texts without marks; those that are not sound are reported and left
    out."""
    source.notes.append(f"the entities are marked in {field!r}: {style}")
    pattern, closing = _STYLES[style], style.startswith("<")
    for record in records:
        if not isinstance(text := record.fields.get(field), str):
            yield record
            continue
        plain, spans = without_marks(text, pattern, lambda mark: mark["name"])
        names = {mark["tag" if "tag" in mark.groupdict() else "name"] for mark in pattern.finditer(text)}
        left = pattern.search(plain)
        if left is None and closing and names:
            left = re.search(f"</?(?:{'|'.join(map(re.escape, names))})[\\s>]", plain)
        if left is not None:
            problem = f"{left[0].strip()!r} within another mark, or without its end"
            source.report_error("HW246", problem, record.line, expected=style)
            continue
        yield record._replace(fields={**record.fields, field: plain, _SPANS: spans})


def without_marks(
    text: str, pattern: re.Pattern[str], type_of: Callable[[re.Match[str]], str | None]
) -> tuple[str, list[JsonObject]]:
    """A text without the marks of its entities, and their spans. What has no type is no mark."""
    parts, spans, at, length = list[str](), list[JsonObject](), 0, 0
    for match in pattern.finditer(text):
        if (kind := type_of(match)) is None:
            continue
        parts += [text[at : match.start()], match["text"]]
        length += match.start() - at
        spans.append({"start": length, "end": length + len(match["text"]), "entity": kind})
        length, at = length + len(match["text"]), match.end()
    return "".join((*parts, text[at:])), spans
