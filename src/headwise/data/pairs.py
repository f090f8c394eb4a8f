"""Read files of text pairs: SNLI, MNLI, SICK, question pairs, any table of two texts, or aligned files.

Codes: HW285 columns that cannot be guessed; HW286 aligned files of different lengths.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest
from os import PathLike, fspath

from headwise.data.archives import lines_of
from headwise.data.dataset import Dataset
from headwise.data.errors import DataError, OnError, stop
from headwise.data.files import Line, without_returns
from headwise.data.formats import csv, jsonl, tsv
from headwise.data.formats.jsonl import as_text
from headwise.data.formats.table import named
from headwise.data.pair import DEFAULT, Pair, PairOptions
from headwise.data.pair_columns import PairColumns, choose_pair_columns, is_header
from headwise.data.rows import Row, Rows
from headwise.data.sniff import guess_format
from headwise.data.source import Record, Source, look_ahead
from headwise.errors import ConfigError

ALIGNED = "aligned"
TABLES = {"csv": csv.read_cells, "tsv": tsv.read_cells}


PairData = Dataset[Pair]


def read_pairs(
    path: str | PathLike[str], options: PairOptions = DEFAULT, on_error: OnError = stop
) -> PairData:
    """Read a file of labelled pairs into memory.

    Labels are trimmed; texts stay exactly as they are. Columns that are not chosen (those of single
    annotators, parses) are ignored.

    Args:
        path: The file, plain or compressed; "-" is standard input; `archive.zip!member` a member of a zip.
        options: What is not to be guessed.
        on_error: Is given the `DataError` of a record that cannot be used. By default it raises; if it
            returns, the record is left out and reading goes on.

    Raises:
        DataError: HW101 to HW121, HW130, HW285.
    """
    source = Source(fspath(path), options.reading(), on_error)
    form, columns, records = open_pairs(source, options, labelled=True)
    pairs, empty, skipped = [], 0, 0
    for record in records:
        pair = _pair(record, columns, source, labelled=True)
        if pair is None:
            continue
        if pair.label == options.no_label:
            skipped += 1
            continue
        empty += not (pair.first.strip() and pair.second.strip())
        pairs.append(pair)
    if skipped:
        source.notes.append(f"pairs without a label ({options.no_label!r}) left out: {skipped:,}")
    if source.blank:
        source.notes.append(f"blank lines passed over: {source.blank:,}")
    return PairData(pairs, source.path, form, columns, tuple(source.notes), empty, skipped)


def read_pair_rows(
    path: str | PathLike[str], options: PairOptions = DEFAULT, on_error: OnError = stop
) -> Rows[Pair]:
    """Read a file of pairs record by record in constant memory; labels are optional, "-" is none.

    Raises:
        DataError: As `read_pairs`, at once or while iterating.
    """
    return rows_of(Source(fspath(path), options.reading(), on_error), options)


def rows_of(source: Source, options: PairOptions) -> Rows[Pair]:
    """The same of a file that is about to be read."""
    form, columns, records = open_pairs(source, options, labelled=False)

    def rows() -> Iterator[Row[Pair]]:
        for record in records:
            pair = _pair(record, columns, source, labelled=False)
            if pair is not None:
                known = pair.label != options.no_label
                item = pair if known else replace(pair, label=None)
                yield Row(record.line, dict(record.fields), item)

    return Rows(rows(), source.path, form, columns, tuple(source.notes))


def open_pairs(
    source: Source, options: PairOptions, *, labelled: bool
) -> tuple[str, PairColumns, Iterator[Record]]:
    """The format, the columns and the records of a file of pairs.

    Raises:
        DataError: It cannot be read, or has no records.
    """
    lines = source.open()
    head, lines = look_ahead(lines, count=100)
    form = options.format
    if form is None:
        form, reason = guess_format(source.path, head, labelled=True)
        if form == "label-text" and all("\t" in text for _, text in head if text.strip()):
            form = "tsv"
        if form not in (*TABLES, "jsonl"):
            found = f"the format {form} does not hold pairs"
            advice = "give --format csv, tsv or jsonl"
            raise source.error("HW130", found, expected="a table of two texts and a label", advice=advice)
        source.notes.append(f"format {form} guessed {reason} - override with --format")
    if form != "csv" and options.delimiter:
        raise ConfigError(f"a delimiter does not apply to the format {form}; leave it out")
    records = _table(form, lines, source, options) if form in TABLES else jsonl.read_records(lines, source)
    sample, records = look_ahead(records)
    if not sample:
        raise source.error("HW103", "no records", expected="one pair of texts a line")
    return form, choose_pair_columns(sample, source, options, labelled=labelled), records


def _table(form: str, lines: Iterator[Line], source: Source, options: PairOptions) -> Iterator[Record]:
    head, rows = look_ahead(TABLES[form](lines, source))
    if options.header is None and head:
        header = is_header(head, source, options)
        source.options = replace(source.options, header=header)
        told = f"line {head[0][0]} is a header" if header else "no header, columns are numbered"
        source.notes.append(f"{told} - override with {'--no-header' if header else '--header'}")
    return named(rows, source)


def _pair(record: Record, columns: PairColumns, source: Source, *, labelled: bool) -> Pair | None:
    first = _text(record, columns.first, source)
    second = None if first is None else _text(record, columns.second, source)
    if first is None or second is None:
        return None
    value = record.fields.get(columns.label or "")
    label = as_text(value).strip() or None
    if labelled and columns.label:
        if label is None:
            advice = "fill it in or remove the row"
            source.report(source.error("HW120", "an empty label", record.line, advice=advice))
            return None
        if isinstance(value, dict | list):
            found = f"the label {label[:40]} is a JSON array or object"
            source.report(source.error("HW121", found, record.line, expected="one label a pair"))
            return None
    return Pair(first, second, label, record.line)


def _text(record: Record, name: str, source: Source) -> str | None:
    text = record.fields.get(name)
    if isinstance(text, str):
        return text
    if name in record.fields:
        found = f"the field {name!r} is {as_text(text) or 'null'}"
        source.report(source.error("HW118", found, record.line, expected="a string"))
    else:
        source.report(source.error("HW117", f"no field {name!r}", record.line, expected="a text"))
    return None


def read_aligned_pairs(
    first: str | PathLike[str],
    second: str | PathLike[str],
    labels: str | PathLike[str] | None = None,
    options: PairOptions = DEFAULT,
    on_error: OnError = stop,
) -> PairData:
    """Read pairs whose first texts, second texts and labels stand in files of their own, line by line.

    Args:
        first: The file of the first texts, one a line; lines may be empty.
        second: The file of the second texts.
        labels: The file of the labels; without, labels are None.
        options: The encoding, and `no_label`.
        on_error: As in `read_pairs`.

    Raises:
        DataError: HW101 to HW106, HW120, HW286 (always raised).
    """
    paths = [fspath(path) for path in (first, second, labels) if path is not None]
    source = Source(paths[-1], options.reading(), on_error)
    files = [without_returns(lines_of(p, options.encoding, options.encoding_errors)) for p in paths]
    pairs, empty, skipped = [], 0, 0
    for number, (one, other, *gold) in enumerate(_aligned(files, paths), start=1):
        label = gold[0].strip() if gold else None
        if label == "":
            source.report(source.error("HW120", "an empty label", number, advice="fill it in"))
        elif label == options.no_label:
            skipped += 1
        else:
            empty += not (one.strip() and other.strip())
            pairs.append(Pair(one, other, label, number))
    notes = (f"pairs without a label ({options.no_label!r}) left out: {skipped:,}",) if skipped else ()
    columns = PairColumns(paths[0], paths[1], paths[2] if labels is not None else None)
    return PairData(pairs, paths[0], ALIGNED, columns, notes, empty, skipped)


def _aligned(files: list[Iterator[Line]], paths: list[str]) -> Iterator[list[str]]:
    for rows in zip_longest(*files):
        if None in rows:
            ended = paths[rows.index(None)]
            going, row = next((path, row) for path, row in zip(paths, rows, strict=True) if row)
            raise DataError(
                "HW286",
                f"{ended} ends before this line",
                expected="as many lines in each of the aligned files",
                path=going,
                line=row[0],
            )
        yield [text for _, text in rows]
