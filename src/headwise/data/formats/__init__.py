"""The formats of data files: how each is recognised, and the function that reads its records."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from headwise.data.columns.file_source import DataSource, Record
from headwise.data.files.tables import TableRow
from headwise.data.files.text_lines import Line, without_returns
from headwise.data.formats import csv, fasttext, jsonl, label_text, rasa, tsv
from headwise.data.formats import sentiment_trees as sst
from headwise.data.formats.annotation_exports import flatten_tables
from headwise.data.formats.csv_records import MOST_FIELDS, Cells, too_many_fields_error
from headwise.data.formats.table_rows import records_from_rows


@dataclass(frozen=True)
class TextFormat:
    """A format of labelled or plain texts.

    Attributes:
        records: Reads the records from the lines of a file, or from the rows of a binary table.
        recognise: Whether the first lines, without blank ones, look like this format. The formats are tried
            in the order of `FORMATS`.
        suffixes: The file name suffixes of the format.
        table: Whether the file has columns to choose from; otherwise its fields are `label` and `text`, or
            only `text`.
    """

    records: Callable[[Iterator[Line], DataSource], Iterator[Record]]
    recognise: Callable[[Sequence[str]], bool]
    suffixes: tuple[str, ...] = ()
    table: bool = False


def _records_from_cells(
    read: Callable[[Iterator[Line], DataSource], Iterator[Cells]],
) -> Callable[[Iterator[Line], DataSource], Iterator[Record]]:
    """The record reader of a format, from its reader of rows of cells."""
    return lambda lines, source: flatten_tables(records_from_rows(read(lines, source), source), source)


def _table_rows(source: DataSource) -> Iterator[TableRow]:
    """The rows of a binary table; one with too many fields is reported and left out."""
    for row in source.rows():
        if len(row[1]) > MOST_FIELDS:
            source.report(too_many_fields_error(source.path, row[0]))
        else:
            yield row


def _workbook_records(_: Iterator[Line], source: DataSource) -> Iterator[Record]:
    rows = ((number, cells) for number, cells in _table_rows(source) if isinstance(cells, list))
    return flatten_tables(records_from_rows(rows, source), source)


def _parquet_records(_: Iterator[Line], source: DataSource) -> Iterator[Record]:
    rows = (Record(number, {**row}) for number, row in _table_rows(source) if isinstance(row, dict))
    return jsonl.flatten(rows, source)


def _plain_records(lines: Iterator[Line], source: DataSource) -> Iterator[Record]:
    """One text per line, no labels; a blank line is an empty text."""
    return (Record(number, {"text": text}) for number, text in without_returns(lines))


FORMATS: dict[str, TextFormat] = {
    "jsonl": TextFormat(jsonl.read_records, jsonl.recognise, (".jsonl", ".ndjson", ".json"), table=True),
    "rasa": TextFormat(rasa.read_records, rasa.recognise, (".yml", ".yaml"), table=True),
    "fasttext": TextFormat(fasttext.read_records, fasttext.recognise),
    "sst": TextFormat(sst.read_records, sst.recognise),
    "label-text": TextFormat(label_text.read_records, label_text.recognise),
    "tsv": TextFormat(_records_from_cells(tsv.read_cells), tsv.recognise, (".tsv", ".tab"), table=True),
    "csv": TextFormat(_records_from_cells(csv.read_cells), csv.recognise, (".csv",), table=True),
    # Binary tables, which have rows instead of lines.
    "xlsx": TextFormat(_workbook_records, lambda texts: False, table=True),
    "parquet": TextFormat(_parquet_records, lambda texts: False, table=True),
    "text": TextFormat(_plain_records, lambda texts: False),
}
