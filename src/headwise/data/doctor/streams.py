"""The doctor's checks of plain texts for language modelling, whose items are lines."""

import unicodedata
from collections.abc import Iterator, Mapping

from headwise.data.diagnosis import Finding, abbreviate, count
from headwise.data.doctor.file import File
from headwise.data.sniff import looks_like_table

_FEW = 100_000  # characters that a training text should have
_HEAD = 200  # lines by which a table is recognised
_LONG = 60  # characters from which on a line is not in two texts by chance


def few(file: File) -> Iterator[Finding]:
    """A training text that is too short."""
    total = file.data.characters.total()
    if file.training and total < _FEW:
        message = f"{total:,} characters are few to learn a language from"
        yield Finding("warning", "HW151", message, (file.data.path,), f"give some {_FEW:,} or more")


def strange_characters(file: File) -> Iterator[Finding]:
    """Characters that seldom occur on purpose."""
    characters = file.data.characters
    control = {c: n for c, n in characters.items() if unicodedata.category(c) == "Cc" and c not in "\n\t"}
    if control:
        message = f"{count(sum(control.values()), 'control character')}: {_named(control)}"
        fix = "remove them, or the model will write them"
        yield Finding("warning", "HW157", message, (file.data.path,), fix)
    if broken := characters["\ufffd"]:
        message = f"{count(broken, 'character')} U+FFFD, which stand for bytes that could not be decoded"
        yield Finding("warning", "HW159", message, (file.data.path,), "give the file's own --encoding")


def tables(file: File) -> Iterator[Finding]:
    """A table rather than plain text."""
    head = [(line.line, line.text) for line in file.items[:_HEAD]]
    if evidence := looks_like_table(file.data.path, head):
        fix = "give a file of its texts alone, unless the model is to write such files"
        yield Finding("warning", "HW283", f"the file {evidence}", (file.data.path,), fix)


def unlike_training(files: Mapping[str, File]) -> Iterator[Finding]:
    """Characters that training lacks, and long lines that training has, too."""
    train = next((file for file in files.values() if file.training), None)
    if train is None:
        return
    lines = {line.text for line in train.items}
    for file in files.values():
        if file is train:
            continue
        characters = file.data.characters
        new = {c: n for c, n in characters.items() if c not in train.data.characters}
        if new:
            message = f"{file.role} has {count(len(new), 'character')} that training lacks: {_named(new)}"
            fix = "they count as unknown; --language.unit bytes knows all"
            yield Finding("info", "HW280", message, (file.data.path,), fix)
        both = [n for n, line in enumerate(file.items) if len(line.text) >= _LONG and line.text in lines]
        if both:
            first = file.items[both[0]].text[:60]
            message = f"{count(len(both), 'long line')} of {file.role} also in training, such as {first!r}"
            fix = "leave them out of one; scores on texts that were learned are too good"
            yield Finding("warning", "HW160", message, file.data.places(both), fix)


def _named(counts: Mapping[str, int]) -> str:
    ranked = sorted(counts.items(), key=lambda entry: -entry[1])
    return abbreviate([f"{name!r} ({n:,})" for name, n in ranked])
