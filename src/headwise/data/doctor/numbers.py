"""The doctor's checks of answers that are numbers."""

from collections.abc import Iterator

from headwise.data.diagnosis import Finding, some
from headwise.data.doctor.file import File
from headwise.data.numbers import advice_for, number_of


def not_numbers(file: File) -> Iterator[Finding]:
    """Answers that are no numbers."""
    given = [(n, item.label) for n, item in enumerate(file.items) if item.label is not None]
    found = [n for n, label in given if number_of(label) is None]
    if found:
        labels = dict.fromkeys(file.items[n].label for n in found)
        shown = some([repr(name[:40]) for name in labels])
        message = f"{file.count(len(found))} with a label that is not a number: {shown}"
        yield Finding("error", "HW287", message, file.data.places(found), advice_for([*labels]))


def one_number(file: File) -> Iterator[Finding]:
    """A file whose answers are all equal."""
    labels = file.data.labels
    if len(labels) == 1 and file.training:
        message = f"only one number, {next(iter(labels))!r}"
        yield Finding("error", "HW162", message, (file.data.path,), "is --label-column the right one?")
