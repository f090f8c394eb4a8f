"""The formats of data files. Each is a function from lines to records."""

from collections.abc import Callable, Iterator

from headwise.data.files import Line
from headwise.data.formats import csv, fasttext, jsonl, label_text, sst, text, tsv
from headwise.data.formats.table import named
from headwise.data.source import Record, Source

ReadRecords = Callable[[Iterator[Line], Source], Iterator[Record]]

FORMATS: dict[str, ReadRecords] = {
    "csv": lambda lines, source: named(csv.read_cells(lines, source), source),
    "tsv": lambda lines, source: named(tsv.read_cells(lines, source), source),
    "jsonl": jsonl.read_records,
    "label-text": label_text.read_records,
    "fasttext": fasttext.read_records,
    "sst": sst.read_records,
    "text": text.read_records,
}

TABLES = ("csv", "tsv", "jsonl")
"""Formats whose columns have to be chosen; the others have `label` and `text`, or only `text`."""
