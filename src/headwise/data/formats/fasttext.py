"""The format of fastText: `__label__name text` per line; for multi-label data any number of labels. The
labels may stand at the end of the line instead."""

from collections.abc import Iterator, Sequence

from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.columns.file_source import DataSource, Record, most_true
from headwise.data.columns.reading_options import MultiLabelOptions
from headwise.data.files.text_lines import Line, without_returns

PREFIX = "__label__"
_LABEL = lazy_pattern(rf"{PREFIX}(\S*)\s?")


def recognise(texts: Sequence[str]) -> bool:
    """Whether most lines begin or end with a label of fastText."""
    return most_true(_labels_first(text).startswith(PREFIX) for text in texts)


def _labels_first(text: str) -> str:
    """A line with the labels at its end moved to its start."""
    start, mark, rest = text.partition(f" {PREFIX}")
    if mark and PREFIX not in start and all(word.startswith(PREFIX) for word in f"{PREFIX}{rest}".split()):
        return f"{PREFIX}{rest.strip()} {start}"
    return text


def read_records(lines: Iterator[Line], source: DataSource) -> Iterator[Record]:
    """One record per line, without blank lines; `label` is empty for a line without a label.

    For multi-label data, `label` is a list.
    """
    most = None if isinstance(source.options, MultiLabelOptions) else 1
    for number, text in without_returns(lines):
        text = _labels_first(text)
        labels, rest = labels_of(text, most)
        if not text.strip():
            source.counts.blank += 1
        elif any(PREFIX in label for label in labels):
            problem, column = "a second label without a blank before it", text.index(PREFIX, 1) + 1
            source.report_error("HW121", problem, number, column, expected="a blank after each label")
        elif most and rest.startswith(PREFIX):
            source.report_error(
                "HW121",
                "a second label",
                number,
                len(text) - len(rest) + 1,
                expected="one label per line",
                advice="keep one of them, or give --task multi-label",
            )
        else:
            yield Record(number, {"label": "".join(labels) if most else labels, "text": rest})


def labels_of(line: str, most: int | None = None) -> tuple[list[str], str]:
    """The labels at the start of a line, at most so many, and the rest of the line."""
    labels, at = list[str](), 0
    while len(labels) != most and (label := _LABEL.match(line, at)):
        labels.append(label[1])
        at = label.end()
    return labels, line[at:]
