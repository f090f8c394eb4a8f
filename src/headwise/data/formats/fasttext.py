"""fastText's lines: `__label__name text`; where texts have any number of labels, several of them."""

from collections.abc import Iterator, Sequence

from headwise.data.files import Line, without_returns
from headwise.data.formats.shares import most
from headwise.data.options import LabelSetOptions
from headwise.data.source import Record, Source

PREFIX = "__label__"


def recognise(texts: Sequence[str]) -> bool:
    """Whether lines begin with fastText's labels."""
    return most(text.startswith(PREFIX) for text in texts)


def read_records(lines: Iterator[Line], source: Source) -> Iterator[Record]:
    """One record a line, blank lines left out; the label is empty where a line has none.

    For texts with any number of labels, `label` is a list of them.
    """
    several = isinstance(source.options, LabelSetOptions)
    for number, text in without_returns(lines):
        if not text.strip():
            source.blank += 1
            continue
        label, rest = "", text
        if several:
            labels, rest = labels_of(text)
            yield Record(number, {"label": labels, "text": rest})
            continue
        if text.startswith(PREFIX):
            label, _, rest = text.replace("\t", " ", 1).partition(" ")
            label = label.removeprefix(PREFIX)
            if rest.startswith(PREFIX):
                source.refuse(
                    "HW121",
                    "a second label",
                    number,
                    len(text) - len(rest) + 1,
                    expected="one label a line",
                    advice="keep one of them, or give --task multi-label",
                )
                continue
        yield Record(number, {"label": label, "text": rest})


def labels_of(line: str) -> tuple[list[str], str]:
    """All labels that a line begins with, and its text."""
    labels, rest = [], line.replace("\t", " ")
    while rest.startswith(PREFIX):
        label, _, rest = rest.partition(" ")
        labels.append(label.removeprefix(PREFIX))
    return labels, line[len(line) - len(rest) :]
