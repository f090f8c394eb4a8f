"""Tab-separated values: always one record per line.

The format has no quoting, so a quotation mark is an ordinary character and a field never continues on the
next line. Spreadsheets and pandas quote fields that contain a quotation mark, so a field that begins and
ends with one, with all marks between them doubled, is unquoted. Databases write a backslash before them
instead. (For quoted fields with tabs or line ends, give --quoting double.) Single marks enclose fields
where nearly every row has such a field, as in csv.
"""

from collections.abc import Iterator, Sequence

from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.columns.file_source import DataSource, fraction_true, look_ahead
from headwise.data.files.text_lines import Line, without_returns
from headwise.data.formats.csv import HEAD_LINES, SINGLE_QUOTES_NOTE, has_single_quotes
from headwise.data.formats.csv_records import MARKS, Cells, Dialect, read_records

MAJORITY = 0.8  # of the first lines must have a tab
_ESCAPED = lazy_pattern(r'"(?:[^"\\]|\\.)*+"')


def recognise(texts: Sequence[str]) -> bool:
    """Whether the first line and most others have tabs; lines of a label and a text are recognised
    before."""
    return "\t" in texts[0] and fraction_true("\t" in text for text in texts) >= MAJORITY


def read_cells(lines: Iterator[Line], source: DataSource) -> Iterator[Cells]:
    """The rows of a tsv file, without blank lines."""
    options, source.layout.delimiter = source.options, "\t"
    mark = MARKS.get(options.quoting or "none")
    if options.quoting is None and options.escape is None:
        head, lines = look_ahead(lines, count=HEAD_LINES)
        if has_single_quotes(head, "\t", options):
            source.notes.append(SINGLE_QUOTES_NOTE)
            mark = MARKS["single"]
    if mark is not None or options.escape is not None:
        dialect = Dialect("\t", mark is not None, options.escape, mark or MARKS["double"])
        yield from read_records(lines, dialect, source)
        return
    for number, text in without_returns(lines):
        if not text.strip(" "):
            source.counts.blank += 1
        elif '"' in text and options.quoting is None:
            yield number, [unquoted(cell) for cell in text.split("\t")]
        else:
            yield number, text.split("\t")


def unquoted(cell: str) -> str:
    """A field without its quotation marks if it is properly quoted, otherwise unchanged."""
    if len(cell) < 2 or not (cell.startswith('"') and cell.endswith('"')):
        return cell
    if '\\"' in cell and _ESCAPED.fullmatch(cell):
        return cell[1:-1].replace('\\"', '"')
    inner = cell[1:-1].replace('""', "\0")  # a NUL never comes out of `read_lines`
    return cell if '"' in inner else inner.replace("\0", '"')
