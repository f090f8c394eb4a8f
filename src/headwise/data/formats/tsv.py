"""Tab-separated values: always one record per line.

The format has no quoting, so a quotation mark is an ordinary character and a field never continues on the
next line. Spreadsheets and pandas quote fields that contain a quotation mark, so a field that begins and
ends with one, with all marks between them doubled, is unquoted. (For quoted fields with tabs or line ends,
read the file as csv with the delimiter "\\t".)
"""

from collections.abc import Iterator, Sequence

from headwise.data.files.file_source import DataSource
from headwise.data.files.text_lines import Line, without_returns
from headwise.data.formats.csv import Cells


def recognise(texts: Sequence[str]) -> bool:
    """Whether all lines have tabs; lines of a label and a text are recognised before."""
    return all("\t" in text for text in texts)


def read_cells(lines: Iterator[Line], source: DataSource) -> Iterator[Cells]:
    """The rows of a tsv file, without blank lines."""
    for number, text in without_returns(lines):
        if not text.strip(" "):
            source.blank += 1
        elif '"' in text:
            yield number, [unquoted(cell) for cell in text.split("\t")]
        else:
            yield number, text.split("\t")


def unquoted(cell: str) -> str:
    """A field without its quotation marks if it is properly quoted, otherwise unchanged."""
    if len(cell) < 2 or not (cell.startswith('"') and cell.endswith('"')):
        return cell
    inner = cell[1:-1].replace('""', "\0")  # a NUL never comes out of `read_lines`
    return cell if '"' in inner else inner.replace("\0", '"')
