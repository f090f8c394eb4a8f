"""The doctor's checks of labels that were misread: parts of texts, of other columns or of summaries, and
several labels in one."""

import re
from collections.abc import Collection, Iterator
from itertools import chain

from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.doctor.examined_file import CheckedFile
from headwise.data.doctor.label_checks import RARE
from headwise.data.findings import Finding, abbreviate, count
from headwise.data.formats.label_text import GLUED_FORMATS, labels_with_words
from headwise.data.formats.table_header import names_text_and_label

_LONGEST_NAME = 100  # characters of a text that can be a label
_LEAST_SWAPPED = 3  # items


def glued_labels(file: CheckedFile) -> Iterator[Finding]:
    """Labels to which the first word of the text is glued (`__label__garden,my`)."""
    if glued := _glued_names(file):
        where = file.with_labels(glued)
        message = f"{file.count(len(where))} whose label seems to hold a mark or the first word of the text"
        fix = "write a blank between the label and the text"
        yield Finding("warning", "HW177", message, file.data.places(where), fix)


def _glued_names(file: CheckedFile) -> set[str]:
    return {*labels_with_words(file.data.labels)} if file.data.format in GLUED_FORMATS else set()


def swapped_columns(file: CheckedFile) -> Iterator[Finding]:
    """Texts that are labels of the file, with labels that are not: where columns are swapped, as in files
    put together, or a summary stands below the rows."""
    usual = {name.casefold(): name for name, times in file.data.labels.items() if times >= RARE}
    swapped = [
        n
        for n, item in enumerate(file.items)
        if len(text := file.texts[n]) <= _LONGEST_NAME
        and text.strip().casefold() in usual
        and any(file.data.labels[label] < RARE for label in item.labels)
    ]
    if len(swapped) >= _LEAST_SWAPPED:
        first = file.items[swapped[0]]
        label = abbreviate([repr(name[:40]) for name in first.labels])
        message = f"{file.count(len(swapped))} that are labels, first {file.texts[swapped[0]]!r}, whose "
        message += f"label is {label}"
        fix = "columns are swapped there, or it is a summary: put tables together by the names of columns"
        yield Finding("warning", "HW178", message, file.data.places(swapped), fix)


def joined_labels(file: CheckedFile) -> Iterator[Finding]:
    """Labels that are several others with a word or a mark between them (`billing and network`), unless
    one is the first word of its text."""
    glued = _glued_names(file)
    names = {name.casefold() for name in file.data.labels}
    joined = [
        name
        for name in file.data.labels
        if name not in glued
        and len(name) <= _LONGEST_NAME
        and len(parts := [part.strip().casefold() for part in _JOINERS.split(name)]) > 1
        and len({*parts}) == len(parts)
        and all(part in names and not part.isdecimal() for part in parts)
    ]
    if not joined and not glued and len({*_parts_of_all(names)}) < len([*_parts_of_all(names)]):
        joined = [*file.data.labels]
    if joined:
        shown = abbreviate([f"{name!r} ({file.data.labels[name]:,})" for name in joined])
        marks = {mark.strip() for name in joined for mark in _JOINERS.findall(name)}
        mark = marks.pop() if len(marks) == 1 else ""
        read = f"give --task multi-label --label-separator {mark!r}"
        advice = read if mark and not mark.isalpha() else "write | between them and give --task multi-label"
        fix = f"if texts have several labels, {advice}; else nothing"
        message = f"labels that are several others joined: {shown}"
        yield Finding("warning", "HW186", message, file.data.places(file.with_labels(joined)), fix)


def _parts_of_all(names: Collection[str]) -> Iterator[str]:
    """The parts of labels that all have a comma, semicolon or bar; nothing if any has none."""
    parts = [[*filter(None, map(str.strip, _SEPARATORS.split(name)))] for name in names]
    if all(len(label_parts) > 1 for label_parts in parts):
        yield from chain.from_iterable(parts)


_SEPARATORS = lazy_pattern("[,;|]")
_JOINERS = lazy_pattern(r"\s+(?:and|or|und|oder|et|ou|y|o|e)\s+|\s*[,;|/&+]\s*|\s+", re.IGNORECASE)

_MONTH = "(?:jan|feb|m[aä]r|mrz|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz])"
_DATE = lazy_pattern(
    rf"\d{{4}}-\d\d-\d\d(?: \d\d:\d\d:\d\d)?|\d\d?(?:-|\.? ){_MONTH}\.?|{_MONTH}[-. ]\d\d", re.IGNORECASE
)


def date_labels(file: CheckedFile) -> Iterator[Finding]:
    """Labels that are dates beside others that are none: what spreadsheets make of `1-2`."""
    dates = {name for name in file.data.labels if _DATE.fullmatch(name)}
    if dates and len(dates) < len(file.data.labels):
        shown = abbreviate([repr(name) for name in file.data.labels if name in dates])
        verb = "is a date" if len(dates) == 1 else "are dates"
        message = f"{count(len(dates), 'label')} that {verb}, beside others that are none: {shown}"
        fix = "a spreadsheet may have made dates of labels such as 1-2: correct them in a column of text"
        yield Finding("warning", "HW179", message, file.data.places(file.with_labels(dates)), fix)


def names_of_columns(file: CheckedFile) -> Iterator[Finding]:
    """Labels that are the names of a text and a label: rows of a table in long form."""
    if names_text_and_label([*file.data.labels]):
        names = abbreviate([*map(repr, file.data.labels)])
        message = f"labels that are names of columns: {names}"
        fix = "if the table has a row for each value, write one for each text, with a column for each name"
        yield Finding("warning", "HW178", message, (file.data.path,), fix)
