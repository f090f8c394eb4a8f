"""The doctor's checks of labels, which are names that recur."""

import difflib
from collections.abc import Iterator, Mapping

from headwise.data.diagnosis import Finding, count, some
from headwise.data.doctor.file import File
from headwise.data.duplicates import composed
from headwise.data.labels import all_labels, spelt_otherwise
from headwise.data.numbers import number_of, stands_for_none
from headwise.data.shares import doubted

RARE = 5  # a class with fewer items is hardly learnt
_EXACT = 15  # digits of numbers that do not become equal when they are read


def no_labels(file: File) -> Iterator[Finding]:
    """A file without answers."""
    if file.items and not file.data.labels:
        fix = "give --format and --label-column if the file has labels"
        yield Finding("warning", "HW163", "no labels", (file.data.path,), fix)


def one_class(file: File) -> Iterator[Finding]:
    """A file that has nothing to tell apart."""
    labels = file.data.labels
    if len(labels) == 1 and file.training and len(all_labels(file.items)) == 1:
        message = f"only one class, {next(iter(labels))!r}"
        fix = f"training needs two; is {file.kind.answer.column} the right one?"
        yield Finding("error", "HW162", message, (file.data.path,), fix)


def rare(file: File) -> Iterator[Finding]:
    """Labels that few items have."""
    found = [f"{name!r} ({n})" for name, n in file.data.labels.items() if n < RARE]
    if found and file.training:
        noun = file.kind.answer.noun
        message = f"{count(len(found), noun)} with fewer than {RARE} {file.kind.nouns.many}: {some(found)}"
        fix = f"add {file.kind.nouns.many}, merge them into others, or leave them out"
        yield Finding("warning", "HW155", message, (file.data.path,), fix)


def spellings(file: File) -> Iterator[Finding]:
    """Labels that are spelt in several ways."""
    labels = file.data.labels
    alike: dict[str | float, list[str]] = {}
    for name in labels:
        alike.setdefault(_meant(name), []).append(name)
    for names in alike.values():
        if len(names) < 2:
            continue
        spelt = ((name, repr(name) if name == composed(name) else ascii(name)) for name in names)
        shown = some([f"{own} ({labels[name]:,})" for name, own in spelt])
        wanted = set(names[1:])  # the rarer spellings
        where = [n for n, item in enumerate(file.items) if not wanted.isdisjoint(item.labels)]
        fix = f"headwise takes them for different ones; write {composed(names[0])!r} throughout"
        message = f"labels that differ in how they are written only: {shown}"
        yield Finding("warning", "HW156", message, file.data.places(where), fix)


def _meant(name: str) -> str | float:
    """What is the same for labels that differ in case, spacing, how accents or how numbers are written."""
    number = number_of(name) if len(name) <= _EXACT else None
    return "".join(composed(name).casefold().split()) if number is None else number


def missing(file: File) -> Iterator[Finding]:
    """Labels as programs write that there is none."""
    if found := [name for name in file.data.labels if stands_for_none(name)]:
        where = [n for n, item in enumerate(file.items) if not set(found).isdisjoint(item.labels)]
        names = some([*map(repr, found)])
        message = f"{file.count(len(where))} with the label {names}, which may stand for none"
        fix = "write empty cells for missing labels; --empty-labels skip leaves such rows out"
        yield Finding("warning", "HW120", message, file.data.places(where), fix)


def doubtful(file: File) -> Iterator[Finding]:
    """Labels whose own probability says that they are wrong."""
    if found := doubted(file.items, len(file.data.labels)):
        message = f"{file.count(len(found))} whose label is less likely than the others, by its probability"
        fix = "they are learnt as other labels; --confidence-column none takes labels as they stand"
        yield Finding("warning", "HW171", message, file.data.places(found), fix)


def strange(files: Mapping[str, File]) -> Iterator[Finding]:
    """Labels that the training data lack."""
    known = {label for file in files.values() if file.training for label in file.data.labels}
    if not known:
        return
    for file in files.values():
        if names := spelt_otherwise(file.data.labels, known):
            shown = some([f"{own!r} for {other!r}" for own, other in names.items()])
            message = f"labels of {file.role} that are numbers and written otherwise than in train: {shown}"
            where = [n for n, item in enumerate(file.items) if not names.keys().isdisjoint(item.labels)]
            fix = "headwise reads them as train spells them"
            yield Finding("info", "HW156", message, file.data.places(where), fix)
        for label, times in file.data.labels.items():
            if label in known or label in names:
                continue
            close = difflib.get_close_matches(label, known, n=1, cutoff=0.4)
            message = f"{file.count(times)} of {file.role} with the label {label!r}, unseen in train"
            fix = f"add such {file.kind.nouns.many} to train"
            fix = f"write {close[0]!r} if that is meant" if close else fix
            where = [n for n, item in enumerate(file.items) if label in item.labels]
            yield Finding("error", "HW161", message, file.data.places(where), fix)
