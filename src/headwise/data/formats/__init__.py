"""The formats of data files: how each is recognised, and the function that reads its records."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from headwise.data.files import Line
from headwise.data.formats import csv, fasttext, jsonl, label_text, sst, text, tsv
from headwise.data.formats.csv import Cells
from headwise.data.formats.table import named
from headwise.data.source import Record, Source


@dataclass(frozen=True)
class Format:
    """A format of labelled or plain texts.

    Attributes:
        records: Reads the records from the lines of a file.
        recognise: Whether the first lines, without blank ones, look like this format. The formats are tried
            in the order of `FORMATS`.
        suffixes: The file name suffixes of the format.
        table: Whether the file has columns to choose from; otherwise its fields are `label` and `text`, or
            only `text`.
    """

    records: Callable[[Iterator[Line], Source], Iterator[Record]]
    recognise: Callable[[Sequence[str]], bool]
    suffixes: tuple[str, ...] = ()
    table: bool = False


def _rows(
    read: Callable[[Iterator[Line], Source], Iterator[Cells]],
) -> Callable[[Iterator[Line], Source], Iterator[Record]]:
    """The record reader of a format, from its reader of rows of cells."""
    return lambda lines, source: named(read(lines, source), source)


FORMATS: dict[str, Format] = {
    "jsonl": Format(jsonl.read_records, jsonl.recognise, (".jsonl", ".ndjson", ".json"), table=True),
    "fasttext": Format(fasttext.read_records, fasttext.recognise),
    "sst": Format(sst.read_records, sst.recognise),
    "label-text": Format(label_text.read_records, label_text.recognise),
    "tsv": Format(_rows(tsv.read_cells), tsv.recognise, (".tsv", ".tab"), table=True),
    "csv": Format(_rows(csv.read_cells), csv.recognise, (".csv",), table=True),
    # Binary tables, which `headwise.data.tables` converts to csv and JSON Lines.
    "xlsx": Format(_rows(csv.read_cells), lambda texts: False, table=True),
    "parquet": Format(jsonl.read_records, lambda texts: False, table=True),
    "text": Format(text.read_records, lambda texts: False),
}
