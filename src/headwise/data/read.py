"""Read data files: labelled examples into memory, or rows as a stream."""

import difflib
from collections.abc import Iterator, Sequence
from os import PathLike, fspath
from typing import Protocol

from headwise.data.columns import Columns, choose_columns
from headwise.data.dataset import Dataset
from headwise.data.errors import DataError, OnError, stop
from headwise.data.example import Example
from headwise.data.files import read_lines
from headwise.data.formats import FORMATS, TABLES
from headwise.data.formats.jsonl import as_text
from headwise.data.options import DEFAULT, ReadOptions
from headwise.data.rows import Row, Rows
from headwise.data.sniff import guess_format
from headwise.data.source import Record, Source, look_ahead
from headwise.errors import ConfigError


class ChooseColumns(Protocol):
    """Chooses the columns of a table, as `choose_columns` does."""

    def __call__(self, sample: Sequence[Record], source: Source, *, labelled: bool) -> Columns: ...


def read_examples(
    path: str | PathLike[str], options: ReadOptions = DEFAULT, report: OnError = stop
) -> Dataset:
    """Read a labelled file into memory.

    Labels are trimmed; texts stay exactly as they are. Files of the format "text" have no labels,
    so theirs are None.

    Args:
        path: The file, plain or compressed; "-" is standard input.
        options: What is not to be guessed.
        report: Is given the `DataError` of a record that cannot be used. By default it raises; if
            it returns, the record is left out and reading goes on.

    Raises:
        DataError: Any of HW101 to HW131.
    """
    source = Source(fspath(path), options, report)
    form, columns, records = open_records(source, labelled=True)
    examples, empty = [], 0
    for record in records:
        text = text_of(record, columns, source)
        label = _label(record, columns.label, source) if columns.label else None
        if text is None or (columns.label and label is None):
            continue
        empty += not text.strip()
        examples.append(Example(text, label, record.line))
    if source.neutral:
        source.notes.append(f"neutral trees or phrases (label 2) left out: {source.neutral:,}")
    if source.blank:
        source.notes.append(f"blank lines passed over: {source.blank:,}")
    notes = tuple(source.notes)
    return Dataset(examples, source.path, form, columns, notes, empty, source.neutral)


def read_rows(
    path: str | PathLike[str], options: ReadOptions = DEFAULT, report: OnError = stop
) -> Rows[Example]:
    """Read a file record by record in constant memory; labels are optional.

    A label column that the options name but the file lacks is passed over. Of tables, and where
    the format is to be guessed, up to 1,000 records (or 1 MB) are read ahead.

    Raises:
        DataError: As `read_examples`, at once or while iterating.
    """
    source = Source(fspath(path), options, report)
    form, columns, records = open_records(source, labelled=False)
    return Rows(_rows(records, columns, source), source.path, form, columns, tuple(source.notes))


def _rows(records: Iterator[Record], columns: Columns, source: Source) -> Iterator[Row[Example]]:
    for record in records:
        text = text_of(record, columns, source)
        if text is not None:
            label = as_text(record.fields.get(columns.label or "")).strip() or None
            yield Row(record.line, dict(record.fields), Example(text, label, record.line))


def open_records(
    source: Source, *, labelled: bool, choose: "ChooseColumns" = choose_columns
) -> tuple[str, Columns, Iterator[Record]]:
    """The format, the columns and the records of a file.

    Args:
        source: The file and its options.
        labelled: Whether labels are needed.
        choose: Chooses the columns of a table by its first records.

    Raises:
        DataError: It cannot be read, or has no records.
    """
    options = source.options
    lines = read_lines(source.path, options.encoding, options.encoding_errors)
    name = options.format
    if name is None and options.delimiter:
        name = "csv"
    if name is None:
        head, lines = look_ahead(lines, count=200)
        name, why = guess_format(source.path, head, labelled=labelled)
        source.notes.append(f"format {name} guessed {why} - override with --format")
    if name not in FORMATS:
        close = difflib.get_close_matches(name, FORMATS, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise ConfigError(f"unknown format {name!r}; expected one of {', '.join(FORMATS)}{hint}")
    if options.delimiter and name not in ("csv", "label-text"):
        raise ConfigError(f"--delimiter does not apply to the format {name}; leave it out")
    records = FORMATS[name](lines, source)
    if name in TABLES:
        sample, records = look_ahead(records)
        if not sample:
            raise _nothing(source)
        return name, choose(sample, source, labelled=labelled), records
    if options.names_columns:
        raise ConfigError(f"the format {name} has no columns to choose; leave out --…-column")
    sample, records = look_ahead(records, count=1)
    if not sample:
        raise _nothing(source)
    return name, Columns("text", None if name == "text" else "label"), records


def _nothing(source: Source) -> DataError:
    return DataError("HW103", "no records", expected="one text a line", path=source.path)


def text_of(record: Record, columns: Columns, source: Source) -> str | None:
    """The text of a record; None, and reported, where there is none."""
    text = record.fields.get(columns.text)
    if isinstance(text, str):
        return text
    if columns.text not in record.fields:
        source.report(source.error("HW117", f"no field {columns.text!r}", record.line, expected="a text"))
    else:
        found = f"the field {columns.text!r} is {as_text(text) or 'null'}"
        source.report(source.error("HW118", found, record.line, expected="a string"))
    return None


def _label(record: Record, name: str, source: Source) -> str | None:
    value = record.fields.get(name)
    label = as_text(value).strip()
    if label and not isinstance(value, dict | list):
        return label
    if name not in record.fields:
        source.report(source.error("HW117", f"no field {name!r}", record.line, expected="a label"))
    elif label:
        found = f"the label {label[:40]} is a JSON array or object"
        source.report(source.error("HW121", found, record.line, expected="one label a text"))
    else:
        advice = "fill it in or remove the row"
        source.report(source.error("HW120", "an empty label", record.line, advice=advice))
    return None


def check_labels(train: Dataset, other: Dataset) -> None:
    """Check that every label of `other` occurs in `train`.

    Raises:
        DataError: HW140 at the first text whose label does not.
    """
    known = train.labels
    strange = [example for example in other.examples if example.label not in known]
    if not strange:
        return
    first = strange[0]
    close = difflib.get_close_matches(first.label or "", known, n=1, cutoff=0.4)
    names = ", ".join(map(repr, list(known)[:10])) + (", ..." if len(known) > 10 else "")
    raise DataError(
        "HW140",
        f"the label {first.label!r} does not occur in {train.path}"
        + (f" (nor do those of {len(strange) - 1} more texts)" if len(strange) > 1 else ""),
        expected=f"one of {names}",
        advice=f"did you mean {close[0]!r}?" if close else "",
        path=other.path,
        line=first.line,
    )
