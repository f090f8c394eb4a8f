"""Read files of text pairs: SNLI, MNLI, SICK, question pairs, any table of two texts.

Code: HW285 columns that cannot be guessed.
"""

import os
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from os import PathLike, fspath

from headwise.core.text_normalization import without_invisible
from headwise.data.columns.cell_values import as_text
from headwise.data.columns.file_source import DataSource, Record, look_ahead, most_true
from headwise.data.columns.item_options import DEFAULT_PAIR_OPTIONS, PairOptions
from headwise.data.columns.pair_columns import PairColumns, choose_pair_columns
from headwise.data.columns.soft_label_columns import read_weight
from headwise.data.errors import OnError, raise_error
from headwise.data.formats import FORMATS
from headwise.data.items.dataset import Dataset, InputRow, InputRows
from headwise.data.items.examples import Pair
from headwise.data.items.labels import unify_spellings
from headwise.data.items.numeric_labels import with_plain_numbers
from headwise.data.readers.file_sets import note_left_out
from headwise.data.readers.labelled_files import (
    find_format,
    input_rows,
    open_table,
    read_label_field,
    read_text_field,
)


def read_pairs(
    path: str | PathLike[str],
    options: PairOptions = DEFAULT_PAIR_OPTIONS,
    on_error: OnError = raise_error,
    *,
    numbers: bool = False,
) -> Dataset[Pair]:
    """Read a file of labelled pairs into memory.

    White space around labels is removed; texts are not changed. Columns that are not chosen (labels of
    single annotators, parses) are ignored.

    Args:
        path: The file, plain or compressed; "-" is standard input; `archive.zip!member` a member of a zip.
        options: The format and columns, as far as they should not be guessed.
        on_error: Called with the `DataError` of a record that cannot be used. By default it raises; if it
            returns, the record is left out and reading continues.
        numbers: Whether labels are numbers, which helps to guess their column.

    Raises:
        DataError: HW101 to HW121, HW126, HW130, HW285.
    """
    source = _source(fspath(path), options, on_error)
    form, columns, records = open_pairs(source, options, labelled=True, numbers=numbers)
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
    if source.counts.unlabelled:
        source.notes.append(f"pairs with an empty label left out: {source.counts.unlabelled:,}")
    note_left_out(source)
    if numbers:
        pairs, number_notes = with_plain_numbers(pairs, source.layout.delimiter)
        source.notes += number_notes
    pairs, spelling_notes = unify_spellings(pairs)
    source.notes += spelling_notes
    return Dataset(
        pairs, source.path, form, columns, tuple(source.notes), empty, skipped + source.counts.unlabelled
    )


def read_pair_rows(
    path: str | PathLike[str], options: PairOptions = DEFAULT_PAIR_OPTIONS
) -> InputRows[Pair]:
    """Read a file of pairs record by record in constant memory; labels are optional, and "-" means none.

    Raises:
        DataError: As `read_pairs`, at once or while iterating.
    """
    return pair_rows(_source(fspath(path), options, raise_error), options)


def _source(path: str, options: PairOptions, on_error: OnError) -> DataSource:
    columns = (options.first_column, options.second_column)
    return DataSource(path, options.reading(), on_error, columns=columns)


def pair_rows(source: DataSource, options: PairOptions) -> InputRows[Pair]:
    """The records of an opened source, as `read_pair_rows` returns them."""
    form, columns, records = open_pairs(source, options, labelled=False)

    def rows() -> Iterator[InputRow[Pair]]:
        for record in records:
            pair = _pair(record, columns, source, labelled=False)
            if pair is not None:
                has_label = pair.label != options.no_label
                item = pair if has_label else replace(pair, label=None)
                yield InputRow(record.line, dict(record.fields), item)

    return input_rows(rows(), source, form, columns)


def open_pairs(
    source: DataSource, options: PairOptions, *, labelled: bool, numbers: bool = False
) -> tuple[str, PairColumns, Iterator[Record]]:
    """The format, the columns and the records of a file of pairs.

    Raises:
        DataError: It cannot be read, or has no records.
    """
    if os.path.isdir(source.path):
        raise source.error("HW101", "a directory, not a file", expected="a table of pairs")
    form, lines = find_format(source, labelled=False)
    if form == "label-text":
        head, lines = look_ahead(lines)
        if most_true("\t" in text for _, text in head if text.strip()):
            form = "tsv"  # two text columns without a label, or pairs of short texts
    if not FORMATS[form].table:
        expected, advice = "a table of two texts and a label", "give --format csv, tsv or jsonl"
        raise source.error(
            "HW130", f"the format {form} does not hold pairs", expected=expected, advice=advice
        )
    choose = partial(choose_pair_columns, options=options, numbers=numbers)
    return form, *open_table(form, lines, source, choose, labelled=labelled)


def _pair(record: Record, columns: PairColumns, source: DataSource, *, labelled: bool) -> Pair | None:
    first = read_text_field(record, columns.first, source)
    second = None if first is None else read_text_field(record, columns.second, source)
    if first is None or second is None:
        return None
    if labelled and columns.label:
        label = read_label_field(record, columns.label, source)
        weight = None if label is None else read_weight(record, columns.weight, source)
        return None if weight is None else Pair(first, second, label, record.line, weight=weight)
    label = without_invisible(as_text(record.fields.get(columns.label or ""))) or None
    return Pair(first, second, label, record.line)
