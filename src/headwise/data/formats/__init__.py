"""The formats of data files. Each is a function from lines to records, beside what recognises it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from headwise.data.files import Line
from headwise.data.formats import csv, fasttext, jsonl, label_text, sst, text, tsv
from headwise.data.formats.csv import Cells
from headwise.data.formats.table import named
from headwise.data.source import Record, Source


@dataclass(frozen=True)
class Format:
    """A format of texts.

    Attributes:
        records: From lines to records.
        recognise: Whether the first lines, blank ones left out, look like it. The formats are asked in
            their order.
        suffixes: Endings of names that decide.
        table: Whether there are columns to choose from; else they are `label` and `text`, or only `text`.
    """

    records: Callable[[Iterator[Line], Source], Iterator[Record]]
    recognise: Callable[[Sequence[str]], bool]
    suffixes: tuple[str, ...] = ()
    table: bool = False


def _rows(
    read: Callable[[Iterator[Line], Source], Iterator[Cells]],
) -> Callable[[Iterator[Line], Source], Iterator[Record]]:
    return lambda lines, source: named(read(lines, source), source)


FORMATS: dict[str, Format] = {
    "jsonl": Format(jsonl.read_records, jsonl.recognise, (".jsonl", ".ndjson", ".json"), table=True),
    "fasttext": Format(fasttext.read_records, fasttext.recognise),
    "sst": Format(sst.read_records, sst.recognise),
    "label-text": Format(label_text.read_records, label_text.recognise),
    "tsv": Format(_rows(tsv.read_cells), tsv.recognise, (".tsv", ".tab"), table=True),
    "csv": Format(_rows(csv.read_cells), csv.recognise, (".csv",), table=True),
    # Of tables that are no text, see `headwise.data.tables`.
    "xlsx": Format(_rows(csv.read_cells), lambda texts: False, table=True),
    "parquet": Format(jsonl.read_records, lambda texts: False, table=True),
    "text": Format(text.read_records, lambda texts: False),
}
