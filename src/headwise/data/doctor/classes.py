"""The doctor's checks of class labels."""

import difflib
from collections.abc import Iterator, Mapping

from headwise.data.diagnosis import Finding, abbreviate, count
from headwise.data.doctor.file import File
from headwise.data.duplicates import composed
from headwise.data.labels import all_labels, spelt_otherwise
from headwise.data.numbers import number_of, stands_for_none
from headwise.data.shares import doubted

RARE = 5  # items below which a class can hardly be learnt
_EXACT = 15  # digits up to which different numbers stay different as floats


def no_labels(file: File) -> Iterator[Finding]:
    """A file without labels."""
    if file.items and not file.data.labels:
        fix = "give --format and --label-column if the file has labels"
        yield Finding("warning", "HW163", "no labels", (file.data.path,), fix)


def one_class(file: File) -> Iterator[Finding]:
    """A training file with a single class."""
    labels = file.data.labels
    if len(labels) == 1 and file.training and len(all_labels(file.items)) == 1:
        message = f"only one class, {next(iter(labels))!r}"
        fix = f"training needs two; is {file.kind.answer.column} the right one?"
        yield Finding("error", "HW162", message, (file.data.path,), fix)


def rare(file: File) -> Iterator[Finding]:
    """Labels that few items have."""
    infrequent = [f"{name!r} ({n})" for name, n in file.data.labels.items() if n < RARE]
    if infrequent and file.training:
        noun = file.kind.answer.noun
        shown = abbreviate(infrequent)
        message = f"{count(len(infrequent), noun)} with fewer than {RARE} {file.kind.nouns.many}: {shown}"
        fix = f"add {file.kind.nouns.many}, merge them into others, or leave them out"
        yield Finding("warning", "HW155", message, (file.data.path,), fix)


def spellings(file: File) -> Iterator[Finding]:
    """Labels that differ only in their spelling."""
    labels = file.data.labels
    variants: dict[str | float, list[str]] = {}
    for name in labels:
        variants.setdefault(_meant(name), []).append(name)
    for names in variants.values():
        if len(names) < 2:
            continue
        spelt = ((name, repr(name) if name == composed(name) else ascii(name)) for name in names)
        shown = abbreviate([f"{quoted} ({labels[name]:,})" for name, quoted in spelt])
        rarer = set(names[1:])  # the rarer spellings
        where = [n for n, item in enumerate(file.items) if not rarer.isdisjoint(item.labels)]
        fix = f"headwise takes them for different ones; write {composed(names[0])!r} throughout"
        message = f"labels that differ in how they are written only: {shown}"
        yield Finding("warning", "HW156", message, file.data.places(where), fix)


def _meant(name: str) -> str | float:
    """A key that is equal for labels that differ only in case, spacing, or how accents or numbers are
    written."""
    number = number_of(name) if len(name) <= _EXACT else None
    return "".join(composed(name).casefold().split()) if number is None else number


def missing(file: File) -> Iterator[Finding]:
    """Labels such as `None` and `nan`, which programs write for a missing value."""
    if labels := [name for name in file.data.labels if stands_for_none(name)]:
        where = [n for n, item in enumerate(file.items) if not set(labels).isdisjoint(item.labels)]
        names = abbreviate([*map(repr, labels)])
        message = f"{file.count(len(where))} with the label {names}, which may stand for none"
        fix = "write empty cells for missing labels; --empty-labels skip leaves such rows out"
        yield Finding("warning", "HW120", message, file.data.places(where), fix)


def doubtful(file: File) -> Iterator[Finding]:
    """Labels that are less likely than others by their own probability."""
    if items := doubted(file.items, len(file.data.labels)):
        message = f"{file.count(len(items))} whose label is less likely than the others, by its probability"
        fix = "they are learnt as other labels; --confidence-column none takes labels as they stand"
        yield Finding("warning", "HW171", message, file.data.places(items), fix)


def strange(files: Mapping[str, File]) -> Iterator[Finding]:
    """Labels that the training data lack."""
    training_labels = {label for file in files.values() if file.training for label in file.data.labels}
    if not training_labels:
        return
    for file in files.values():
        if names := spelt_otherwise(file.data.labels, training_labels):
            shown = abbreviate(
                [f"{label!r} for {training_label!r}" for label, training_label in names.items()]
            )
            message = f"labels of {file.role} that are numbers and written otherwise than in train: {shown}"
            where = [n for n, item in enumerate(file.items) if not names.keys().isdisjoint(item.labels)]
            fix = "headwise reads them as train spells them"
            yield Finding("info", "HW156", message, file.data.places(where), fix)
        for label, times in file.data.labels.items():
            if label in training_labels or label in names:
                continue
            close = difflib.get_close_matches(label, training_labels, n=1, cutoff=0.4)
            message = f"{file.count(times)} of {file.role} with the label {label!r}, unseen in train"
            fix = f"add such {file.kind.nouns.many} to train"
            fix = f"write {close[0]!r} if that is meant" if close else fix
            where = [n for n, item in enumerate(file.items) if label in item.labels]
            yield Finding("error", "HW161", message, file.data.places(where), fix)
