"""`label<TAB>text` or `label text`: the label is all before the first separator."""

from collections.abc import Iterator

from headwise.data.files import Line, without_returns
from headwise.data.source import Record, Source, look_ahead


def read_records(lines: Iterator[Line], source: Source) -> Iterator[Record]:
    """One record a line, blank lines left out.

    The separator is a tab if every one of the first lines has one, else a space. Further
    separators belong to the text.
    """
    separator = source.options.delimiter
    if separator is None:
        head, lines = look_ahead(lines, count=100)
        tabs = all("\t" in text for _, text in head if text.strip())
        separator = "\t" if tabs else " "
    separator = separator.replace("\\t", "\t")
    for number, text in without_returns(lines):
        if not text.strip(" "):
            source.blank += 1
            continue
        label, found, rest = text.partition(separator)
        if found:
            yield Record(number, {"label": label, "text": rest})
        else:
            source.report(
                source.error(
                    "HW120",
                    f"a line without a {'tab' if separator == chr(9) else repr(separator)}",
                    number,
                    expected="a label, the separator, and a text",
                    advice="give --delimiter, or --format text if there are no labels",
                )
            )
