"""fastText's lines: `__label__name text`."""

from collections.abc import Iterator

from headwise.data.files import Line, without_returns
from headwise.data.source import Record, Source

PREFIX = "__label__"


def read_records(lines: Iterator[Line], source: Source) -> Iterator[Record]:
    """One record a line, blank lines left out; the label is empty where a line has none."""
    for number, text in without_returns(lines):
        if not text.strip():
            source.blank += 1
            continue
        label, rest = "", text
        if text.startswith(PREFIX):
            label, _, rest = text.replace("\t", " ", 1).partition(" ")
            label = label.removeprefix(PREFIX)
            if rest.startswith(PREFIX):
                source.report(
                    source.error(
                        "HW121",
                        "a second label",
                        number,
                        len(text) - len(rest) + 1,
                        expected="one label a line",
                        advice="keep one of them",
                    )
                )
                continue
        yield Record(number, {"label": label, "text": rest})
