"""Tab-separated values: one record a line, always.

The format has no quoting of its own, so a quotation mark is a character like any other and never
swallows the following lines. Spreadsheets and pandas do quote fields that hold a quotation mark:
a field that begins and ends with one, with every mark between them doubled, is unquoted. (For
quoted fields that hold tabs or line ends read the file as csv with the delimiter "\\t".)
"""

from collections.abc import Iterator, Sequence

from headwise.data.files import Line, without_returns
from headwise.data.formats.csv import Cells
from headwise.data.source import Source


def recognise(texts: Sequence[str]) -> bool:
    """Whether all lines have tabs (and are not a label and a text, which is looked at before)."""
    return all("\t" in text for text in texts)


def read_cells(lines: Iterator[Line], source: Source) -> Iterator[Cells]:
    """The records of a tsv file, blank lines left out."""
    for number, text in without_returns(lines):
        if not text.strip(" "):
            source.blank += 1
        elif '"' in text:
            yield number, [unquoted(cell) for cell in text.split("\t")]
        else:
            yield number, text.split("\t")


def unquoted(cell: str) -> str:
    """A field without its quotation marks, if it is quoted properly; else as it is."""
    if len(cell) < 2 or not (cell.startswith('"') and cell.endswith('"')):
        return cell
    inner = cell[1:-1].replace('""', "\0")  # a NUL never comes out of `read_lines`
    return cell if '"' in inner else inner.replace("\0", '"')
