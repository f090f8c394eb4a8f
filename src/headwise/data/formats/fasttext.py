"""The format of fastText: `__label__name text` per line; for multi-label data any number of labels."""

from collections.abc import Iterator, Sequence

from headwise.data.columns.reading_options import MultiLabelOptions
from headwise.data.files.file_source import DataSource, Record, most_true
from headwise.data.files.text_lines import Line, without_returns

PREFIX = "__label__"


def recognise(texts: Sequence[str]) -> bool:
    """Whether most lines begin with a label of fastText."""
    return most_true(text.startswith(PREFIX) for text in texts)


def read_records(lines: Iterator[Line], source: DataSource) -> Iterator[Record]:
    """One record per line, without blank lines; `label` is empty for a line without a label.

    For multi-label data, `label` is a list.
    """
    multi_label = isinstance(source.options, MultiLabelOptions)
    for number, text in without_returns(lines):
        if not text.strip():
            source.blank += 1
            continue
        label, rest = "", text
        if multi_label:
            labels, rest = labels_of(text)
            yield Record(number, {"label": labels, "text": rest})
            continue
        if text.startswith(PREFIX):
            label, _, rest = text.replace("\t", " ", 1).partition(" ")
            label = label.removeprefix(PREFIX)
            if rest.startswith(PREFIX):
                source.report_error(
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
    """The labels at the start of a line, and the rest of the line."""
    labels, rest = [], line.replace("\t", " ")
    while rest.startswith(PREFIX):
        label, _, rest = rest.partition(" ")
        labels.append(label.removeprefix(PREFIX))
    return labels, line[len(line) - len(rest) :]
