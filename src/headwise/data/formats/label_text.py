"""`label<TAB>text` or `label text`: the label is the part before the first separator.

The majority of the lines decides what separates, so that a bad line is named and changes no other.
"""

from collections.abc import Iterator, Mapping, Sequence

from headwise.core.errors import ConfigError
from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.columns.file_source import (
    DataSource,
    Record,
    look_ahead,
    most_true,
    values_recur,
)
from headwise.data.columns.reading_options import DEFAULT_READ_OPTIONS
from headwise.data.files.text_lines import Line, without_returns
from headwise.data.formats.table_header import has_header, is_text_name
from headwise.data.formats.tsv import unquoted

_LABEL = lazy_pattern(
    r"(?:-?\d+|(?!(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL):)[A-Z]+:\w+) "  # no log
)
_MAJORITY = 0.9  # of the lines must begin with such a label, where a space separates
_DOCUMENT = lazy_pattern(r"###\d+\s*")  # the number of an abstract, before its sentences (PubMed RCT)


def recognise(texts: Sequence[str]) -> bool:
    """Whether most lines look like a label and a text: a few short labels, then a tab, and no further
    columns; or a number or a name as in `HUM:ind` (TREC), then a space."""
    tabbed = [text for text in texts if "\t" in text]
    if 2 * len(tabbed) <= len(texts):
        numbered = [text for text in texts if _LABEL.match(text) and any(map(str.isalpha, text))]
        return len(numbered) >= _MAJORITY * len(texts) and values_recur(
            text.split()[0] for text in numbered
        )
    if "\t" not in texts[0] and is_text_name(texts[0]):
        return False
    rows = [text.split("\t") for text in tabbed]
    if len(rows) < len(texts) and len(set(map(len, rows))) == 1 and has_header(rows, DEFAULT_READ_OPTIONS):
        return False
    table = has_header(rows, DEFAULT_READ_OPTIONS) or all(len(row) == len(rows[0]) > 2 for row in rows)
    first = [row[0] for row in rows]
    if all(len(cell) > 2 and cell[0] == cell[-1] == "'" for cell in first):
        return False  # a table in single quotation marks
    if not most_true(any(map(str.strip, row[1:])) for row in rows):  # words, most of them without a tag
        return False
    return not table and max(len(cell.split()) for cell in first) <= 3 and values_recur(first)


def read_records(lines: Iterator[Line], source: DataSource) -> Iterator[Record]:
    """One record per line, without blank lines.

    The separator is a tab if most of the first lines have one, otherwise a space. Further separators belong
    to the text. Where a space separates and nearly all labels are numbers or such names, all must be.
    """
    separator, example = source.options.delimiter, ""
    if separator is None:
        head, lines = look_ahead(lines, count=100)
        full = [text for _, text in head if text.strip()]
        separator = "\t" if most_true("\t" in text for text in full) else " "
        labels = [*filter(None, map(_LABEL.match, full))] if separator == " " else []
        example = labels[0][0].strip() if labels and len(labels) >= _MAJORITY * len(full) else ""
    separator = separator.replace("\\t", "\t")
    if not separator:
        raise ConfigError("delimiter ''; expected what stands between label and text, such as '\\t'")
    documents = 0
    for number, text in without_returns(lines):
        if not text.strip(" "):
            source.counts.blank += 1
            continue
        if _DOCUMENT.fullmatch(text):
            documents += 1
            continue
        label, matched, rest = text.partition(separator)
        if matched and example and not _LABEL.match(text):
            problem = f"a line that begins with {label[:40]!r}"
            expected = f"a label such as {example!r}, as in nearly all lines"
            advice = "mend the line, or give --delimiter ' ' if its first word is its label"
            source.report_error("HW120", problem, number, expected=expected, advice=advice)
        elif matched and '"' in text and (separator == "\t" or label[:1] == '"'):
            yield Record(number, {"label": unquoted(label), "text": unquoted(rest)})
        elif matched:
            yield Record(number, {"label": label, "text": rest})
        else:
            source.report_error(
                "HW120",
                f"a line without a {'tab' if separator == chr(9) else repr(separator)}",
                number,
                expected="a label, the separator, and a text",
                advice="mend the line; or give --delimiter, or --format text if there are no labels",
            )
    if documents:
        source.notes.append(f"numbers of documents (###1) passed over: {documents:,}")


GLUED_FORMATS = ("fasttext", "label-text")
"""Formats of lines in which a label ends at the first separator."""

_GLUE = lazy_pattern(r"(?P<label>[^\s,;:|]+)[,;:|]+.*")
_MARKS = (",", ";", ":", "|")
_LEAST_LABELS = 3  # that begin alike, for what they begin with to be the label
_LARGEST_COUNT = 4  # mean number of texts of labels that hold words of texts
_FREQUENT = 5  # texts of a label to which a word may be glued


def labels_with_words(labels: Mapping[str, int]) -> list[str]:
    """The labels of a file that end with a mark or seem to hold the first word of a text, by how often each
    label occurs."""
    groups: dict[str, list[str]] = {}
    for name in labels:
        if match := _GLUE.fullmatch(name):
            groups.setdefault(match["label"], []).append(name)
    glued = [name for name in labels if name.endswith(_MARKS) and _GLUE.fullmatch(name)]
    for label, names in groups.items():
        rare = sum(labels[name] for name in names) <= _LARGEST_COUNT * len(names)
        if rare and (label in labels or len(names) >= _LEAST_LABELS):
            glued += [name for name in names if name not in glued]
    frequent = tuple(name for name, count in labels.items() if count >= _FREQUENT)
    glued += [
        name
        for name, count in labels.items()
        if count == 1 and name not in glued and name.startswith(frequent)
    ]
    return glued
