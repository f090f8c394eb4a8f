"""Read data files: labelled examples into memory, or rows as a stream."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike, fspath
from typing import Any, Protocol, TypeVar

from headwise.core.errors import ConfigError, close_names
from headwise.core.text_normalization import without_invisible
from headwise.data.columns.cell_values import as_text, is_link, is_structured
from headwise.data.columns.column_names import join_text_parts, joined_column_names
from headwise.data.columns.duplicate_names import check_duplicate_names, duplicate_name_error
from headwise.data.columns.file_source import DataSource, Record, look_ahead
from headwise.data.columns.multi_hot_columns import MultiHotColumns
from headwise.data.columns.multi_label_columns import cells_of, choose_multi_label_columns, is_unlabelled
from headwise.data.columns.named_columns import names_in, tabular_names
from headwise.data.columns.reading_options import (
    DEFAULT_READ_OPTIONS,
    MultiLabelOptions,
    ReadOptions,
    SoftLabelOptions,
    WeightOptions,
)
from headwise.data.columns.soft_label_columns import (
    SoftLabelColumns,
    choose_soft_columns,
    read_soft_label,
    read_weight,
)
from headwise.data.columns.tabular_columns import TabularColumn
from headwise.data.columns.text_columns import Columns, choose_columns
from headwise.data.errors import NO_LABEL_CODES, DataError, OnError, raise_error
from headwise.data.files.label_folders import is_flat
from headwise.data.files.parquet import parquet_columns
from headwise.data.files.tables import TABLES
from headwise.data.files.text_lines import Line
from headwise.data.files.workbook import SHEET_NOTE
from headwise.data.findings import Finding, abbreviate, count
from headwise.data.formats import FORMATS
from headwise.data.formats.csv import looks_like_rows
from headwise.data.formats.data_frames import lines_of_frame
from headwise.data.formats.label_text import GLUED_FORMATS, labels_with_words
from headwise.data.formats.table_shape import without_totals
from headwise.data.formats.unlabelled_records import labelled_records
from headwise.data.items.dataset import Dataset, InputRow, InputRows
from headwise.data.items.examples import Example, MultiLabelExample
from headwise.data.items.labels import unify_spellings
from headwise.data.items.numeric_labels import measured_labels_notes, with_plain_numbers
from headwise.data.readers.file_preview import guess_format
from headwise.data.readers.file_sets import (
    clean_label,
    note_left_out,
    null_text_notes,
    repeated_header_notes,
)
from headwise.data.readers.tabular_cells import read_tabular_cells, source_of, typed_columns, with_values

Chosen = TypeVar("Chosen", covariant=True)
Item = TypeVar("Item")

_SHOWN = 80  # characters of an invalid text that a message shows


class ChooseColumns(Protocol[Chosen]):
    """A function that chooses the columns of a table, like `choose_columns`."""

    def __call__(self, sample: Sequence[Record], source: DataSource, *, labelled: bool) -> Chosen: ...


def read_examples(
    path: str | PathLike[str],
    options: ReadOptions = DEFAULT_READ_OPTIONS,
    on_error: OnError = raise_error,
    *,
    training_labels: Sequence[str] = (),
    answers: bool = False,
    tabular: Sequence[TabularColumn] = (),
) -> Dataset[Example]:
    """Read a labelled file into memory.

    White space around labels is removed; texts are not changed. The labels of files of the format "text"
    are None. With `MultiLabelOptions` each text has a set of labels (`MultiLabelExample`), which is empty
    for an empty cell or list. With `SoftLabelOptions` labels may be probabilities (see
    `headwise.data.columns.soft_label_columns`).

    Args:
        path: The file, plain or compressed; "-" is standard input; `archive.zip!member` a member of a zip.
        options: The format and columns, as far as they should not be guessed.
        on_error: Called with the `DataError` of a record that cannot be used. By default it raises; if it
            returns, the record is left out and reading continues.
        training_labels: The labels of the training data. The file may have a column of 0 and 1 for each.
        answers: With `SoftLabelOptions`: prefer the predictions of a teacher model over a column of labels.
        tabular: The columns beside the text that the training data have, which the file must have too.

    Raises:
        DataError: Any of HW101 to HW131, HW145 to HW147.
    """
    source = source_of(fspath(path), options, on_error, tabular)
    if isinstance(options, MultiLabelOptions):
        choose = partial(choose_multi_label_columns, training_labels=training_labels)
        form, columns, records = open_records(source, labelled=True, choose=choose)
        examples: list[Example] = [*_multi_label_examples(records, columns, source)]
    else:
        choose = partial(choose_soft_columns, answers=answers)
        form, columns, records = open_records(source, labelled=True, choose=choose)
        examples = [*_labelled_examples(records, columns, source)]
    if columns.tabular:
        typed = typed_columns(columns.tabular, examples, source)
        examples = [*with_values(examples, typed, source)]
        columns = replace(columns, tabular=typed)
    if source.counts.neutral:
        source.notes.append(f"neutral trees or phrases (label 2) left out: {source.counts.neutral:,}")
    if source.counts.unlabelled:
        source.notes.append(f"texts without a label left out: {source.counts.unlabelled:,}")
    if source.counts.corrected:
        source.notes.append(
            f"labels that somebody wrote in place of predictions: {source.counts.corrected:,}; the "
            "probabilities beside them do not count"
        )
    note_left_out(source)
    counts = Counter(label for example in examples for label in example.labels)
    if form in GLUED_FORMATS and (glued := labels_with_words(counts)):
        shown = abbreviate([*map(repr, glued)])
        source.notes.append(f"labels that seem to hold a mark or the first word of their text: {shown}")
    if isinstance(options, SoftLabelOptions):
        source.notes += measured_labels_notes(counts)
    elif isinstance(options, WeightOptions):
        examples, number_notes = with_plain_numbers(examples, source.layout.delimiter)
        source.notes += number_notes
    examples, spelling_notes = unify_spellings(examples)
    source.notes += spelling_notes
    empty = sum(not example.text.strip() for example in examples)
    details = (
        tuple(source.notes),
        empty,
        source.counts.neutral + source.counts.unlabelled,
        tuple(source.findings),
        source.counts.unlabelled,
    )
    return Dataset(examples, source.path, form, columns, *details)


def _labelled_examples(
    records: Iterator[Record], columns: Columns, source: DataSource
) -> Iterator[Example]:
    for record in records:
        text = read_text_field(record, columns.text, source)
        label = read_label_field(record, columns.label, source) if columns.label else None
        if text is None or (label is None and columns.label):
            continue
        shares = None
        if isinstance(columns, SoftLabelColumns):
            if (shares := read_soft_label(record, columns, label, source)) is None:
                continue
            label = label or shares.likeliest
        if (weight := read_weight(record, columns.weight, source)) is not None:
            cells = read_tabular_cells(record, columns.tabular)
            yield Example(text, label, record.line, shares=shares, weight=weight, tabular=cells)


def _multi_label_examples(
    records: Iterator[Record], columns: Columns, source: DataSource
) -> Iterator[Example]:
    repeated, occurring, unlabelled, sizes = list[int](), set[str](), 0, set[int]()
    numbers, flags = False, columns.flags if isinstance(columns, MultiHotColumns) else ()
    for record in records:
        if source.skips_unanswered and columns.label_columns and is_unlabelled(record, columns):
            source.counts.unlabelled += 1
            continue
        text = read_text_field(record, columns.text, source)
        cells = cells_of(record, columns, source)
        weight = None if text is None or cells is None else read_weight(record, columns.weight, source)
        if text is None or cells is None or weight is None:
            continue
        cells = [clean_label(cell, source) for cell in cells]
        labels = tuple(dict.fromkeys(filter(None, cells)))
        if len(labels) < len(cells):
            repeated.append(record.line)
        occurring.update(labels)
        unlabelled += not labels
        sizes.add(len(labels))
        numbers = numbers or any(as_text(record.fields.get(flag)) == "1" for flag in flags)
        tabular = read_tabular_cells(record, columns.tabular)
        yield MultiLabelExample(text, None, record.line, labels=labels, weight=weight, tabular=tabular)
    if unlabelled and columns.label_columns:
        source.notes.append(f"texts without a label, which is an answer like others: {unlabelled:,}")
    if idle := [name for name in flags if name not in occurring]:
        source.notes.append(f"labels that no text has: {', '.join(map(repr, idle))}")
    if flags and sizes == {1} and len(occurring) > 2:
        note = "every text has one of the labels"
        if numbers:
            options = f"--task classify --probability-columns {','.join(flags)!r}"
            note += f" - {options} learns that no other is possible"
        source.notes.append(note)
    if repeated:
        message = f"{count(len(repeated), 'text')} with a label twice or an empty place for one"
        fix = "headwise takes each label once and passes over empty ones"
        source.findings.append(Finding("info", "HW169", message, source.places(repeated), fix))


def read_rows(
    path: str | PathLike[str],
    options: ReadOptions = DEFAULT_READ_OPTIONS,
    on_error: OnError = raise_error,
    *,
    tabular: Sequence[TabularColumn] = (),
) -> InputRows[Example]:
    """Read a file record by record in constant memory; labels are optional.

    A label column that the options name but the file lacks is ignored. Up to 1,000 records (or 1 MB) are
    read ahead to guess the format and the columns of a table. `tabular` are the columns beside the text
    that a model reads.

    Raises:
        DataError: As `read_examples`, at once or while iterating.
    """
    source = source_of(fspath(path), options, on_error, tabular)
    form, columns, records = open_records(source, labelled=False)
    return input_rows(_example_rows(records, columns, source), source, form, columns)


def input_rows(
    rows: Iterator[InputRow[Item]], source: DataSource, form: str, columns: object
) -> InputRows[Item]:
    """The records of a source that are to be predicted, with the notes that can only be written after the
    last record."""
    notes, closing = tuple(source.notes), list[str]()

    def until_end() -> Iterator[InputRow[Item]]:
        yield from rows
        closing.extend((*repeated_header_notes(source), *null_text_notes(source)))

    return InputRows(
        until_end(),
        source.path,
        form,
        columns,
        notes,
        source.layout.headings,
        source.layout.empty_header,
        closing,
    )


def _example_rows(
    records: Iterator[Record], columns: Columns, source: DataSource
) -> Iterator[InputRow[Example]]:
    for record in records:
        text = read_text_field(record, columns.text, source)
        if text is not None:
            label = without_invisible(as_text(record.fields.get(columns.label or ""))) or None
            example = Example(text, label, record.line, tabular=read_tabular_cells(record, columns.tabular))
            for item in with_values([example], columns.tabular, source) if columns.tabular else [example]:
                yield InputRow(record.line, dict(record.fields), item)


def open_records(
    source: DataSource, *, labelled: bool, choose: ChooseColumns[Columns] = choose_columns
) -> tuple[str, Columns, Iterator[Record]]:
    """The format, the columns and the records of a file.

    Raises:
        DataError: The file cannot be read, or has no records.
    """
    name, lines = find_format(source, labelled=labelled)
    if FORMATS[name].table:
        return name, *open_table(name, lines, source, choose, labelled=labelled)
    if source.options.has_column_options:
        if source.trained:
            raise _no_table_error(source, name)
        raise ConfigError(f"the format {name} has no columns to choose; leave out --…-column")
    records = FORMATS[name].records(lines, source)
    sample, records = look_ahead(without_totals(records, source) if labelled else records, count=1)
    if not sample:
        raise _no_records_error(source)
    return name, Columns("text", None if name == "text" else "label"), records


def find_format(source: DataSource, *, labelled: bool) -> tuple[str, Iterator[Line]]:
    """The name of a file's format, from the options or guessed, and its lines.

    Raises:
        DataError: The file cannot be opened, or its format cannot be guessed.
        ConfigError: There is no such format, or a delimiter does not apply to it.
    """
    options = source.options
    lines = source.open(labelled=labelled)
    lines = lines if source.table else lines_of_frame(lines, source.path, source.notes)
    name = "csv" if options.format is None and options.delimiter else options.format
    if source.table or name in TABLES:
        if options.format not in (None, source.table):
            problem = f"is a file of the format {source.table}" if source.table else "is not of this format"
            raise ConfigError(f"--format {name}: {source.path} {problem}; leave it out")
        name = source.table
    if name is None:
        head, lines = look_ahead(lines, count=200)
        name, why = guess_format(source.path, head, labelled=labelled)
        if name == "text" and looks_like_rows([text for _, text in head if text.strip()]):
            problem = "each line may be a text, or a row of a table"
            advice = "give --format csv if it is a row, --format text if it is a text"
            raise source.error("HW130", problem, advice=advice)
        if name == "text" and (tagged := _reason_for_tags([text for _, text in head])):
            source.notes.append(f"the lines look like words with tags ({tagged}); each is read as a text")
        note = f"format {name} guessed {why} - override with --format"
        if os.path.isdir(source.path):
            note = "a folder of texts" + " with a folder for each label" * (not is_flat(source.path))
        source.notes.append(note)
    if name not in FORMATS:
        close = close_names(name, FORMATS)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise ConfigError(f"unknown format {name!r}; expected one of {', '.join(FORMATS)}{hint}")
    quoting = "--quoting" if options.quoting else "--escape" if options.escape is not None else ""
    if quoting and name not in ("csv", "tsv"):
        raise ConfigError(f"{quoting} does not apply to the format {name}; leave it out")
    if options.delimiter and name not in ("csv", "label-text"):
        raise ConfigError(f"--delimiter does not apply to the format {name}; leave it out")
    return name, lines


def _reason_for_tags(lines: Sequence[str]) -> str | None:
    """The reason why lines look like tagged sentences, for a note; None if they do not. Lines without a
    blank line, tab or slash are not looked at, as a single text would wait for the import."""
    if not any("\t" in line or "/" in line or not line.strip() for line in lines):
        return None
    from headwise.data.readers.tag_format_guess import looks_tagged

    return looks_tagged(lines)


def open_table(
    name: str, lines: Iterator[Line], source: DataSource, choose: ChooseColumns[Chosen], *, labelled: bool
) -> tuple[Chosen, Iterator[Record]]:
    """The columns and the records of a table.

    Raises:
        DataError: The table has no records, or its columns cannot be guessed.
    """
    records = source.table_records(name, lambda: FORMATS[name].records(lines, source))
    if labelled:
        records = without_totals(labelled_records(_not_blank(records, source), source), source)
    sample, records = look_ahead(records)
    layout = source.layout
    if layout.empty_header:
        if labelled:
            advice = "if this row is data give --no-header"
            raise source.error("HW113", "a header without rows below it", layout.header_line, advice=advice)
        sample = [Record(layout.header_line, dict.fromkeys(layout.empty_header, ""))]
    if not sample and not labelled and name in ("jsonl", "parquet"):
        # A sound file without records: its predictions are a file without records, too.
        if name == "parquet":
            layout.empty_header = tuple(parquet_columns(source.path))
        no_columns: Any = Columns("")
        return no_columns, records
    if not sample:
        raise _no_records_error(source)
    try:
        columns: Any = choose(sample, source, labelled=labelled)
    except DataError as error:
        if error.code in NO_LABEL_CODES and layout.duplicates:
            heading = next(iter(layout.duplicates.values()))
            raise duplicate_name_error(heading, names_in(sample), source) from None
        if sheet := next((note for note in source.notes if note.startswith(SHEET_NOTE)), ""):
            advice = f"{sheet}; or {error.advice}"
            raise source.error(
                error.code, error.problem, error.line, expected=error.expected, advice=advice
            ) from None
        raise
    if requested := source.options.tabular_columns:
        names = tabular_names(sample, source)
        tabular = [replace(column, name=name) for column, name in zip(requested, names, strict=True)]
        columns = replace(columns, tabular=tuple(tabular))
    if layout.duplicates:
        check_duplicate_names(columns, sample, source, labelled=labelled)
    return columns, records


def _no_table_error(source: DataSource, name: str) -> DataError:
    """The error for a file without columns, for a model that reads columns beside the text."""
    needed = ", ".join(repr(column.name) for column in source.options.tabular_columns)
    problem = f"the format {name} has no columns, but the model reads {needed} beside the text"
    advice = "give a csv, tsv, jsonl, xlsx or parquet file (--format csv if it is one)"
    return DataError("HW147", problem, advice=advice, path=source.path)


def _not_blank(records: Iterator[Record], source: DataSource) -> Iterator[Record]:
    """The records without empty rows, which spreadsheets write below a table; for training only, as every
    record to predict gets an answer."""
    for record in records:
        cells = record.fields.values()
        if len(cells) > 1 and all(isinstance(cell, str) and not cell.strip() for cell in cells):
            source.counts.blank += 1
        else:
            yield record


def _no_records_error(source: DataSource) -> DataError:
    return DataError("HW103", "no records", expected="one record per line", path=source.path)


def read_text_field(record: Record, name: str, source: DataSource) -> str | None:
    """A text of a record; None if its row is left out, after an error if there is no text. For a null see
    the option `null_texts`."""
    if name not in record.fields and len(parts := joined_column_names(name)) > 1:
        present = [part for part in parts if record.fields.get(part, "") is not None]
        if not present:
            return source.null_text(name, record.line)
        texts = [read_text_field(record, part, source) for part in present]
        return None if None in texts else join_text_parts(filter(None, texts))
    text = record.fields.get(name)
    if isinstance(text, str):
        return text
    if name not in record.fields:
        source.report_error("HW117", f"no field {name!r}", record.line, expected="a text")
    elif text is None:
        return source.null_text(name, record.line)
    else:
        shown = as_text(text)
        problem = f"the field {name!r} is {shown[:_SHOWN]}{'...' * (len(shown) > _SHOWN)}"
        inner = [f"{name}.{key}" for key, inner_value in _members(text) if isinstance(inner_value, str)]
        advice = f"name what is in it as the column, such as {inner[0]!r}" if inner else ""
        source.report_error("HW118", problem, record.line, expected="a string", advice=advice)
    return None


def _members(value: object) -> Iterable[tuple[object, object]]:
    """The keys (or indices) and values of a JSON object or array; empty for other values."""
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list) else ()


def read_label_field(record: Record, name: str, source: DataSource) -> str | None:
    """The label of a record; None, after reporting an error, if there is none."""
    value = record.fields.get(name)
    label = clean_label(value, source)
    if label and not is_structured(value) and not is_link(value):
        return label
    skip_hint = " (--empty-labels skip leaves such rows out)" * hasattr(source.options, "empty_labels")
    if not label and source.skips_unanswered:
        source.counts.unlabelled += 1
    elif name not in record.fields:
        advice = f"add it or remove the row{skip_hint}"
        source.report_error("HW117", f"no field {name!r}", record.line, expected="a label", advice=advice)
    elif label:
        what = "a link" if is_link(value) else "a list or an object"
        problem = f"the label {label[:40]}{'...' * (len(label) > 40)} is {what}"
        advice = "name another column with --label-column"
        inner = value if isinstance(value, dict) else {}
        if names := [key for key, part in inner.items() if isinstance(part, str)]:
            advice += f", such as {f'{name}.{names[-1]}'!r}"
        elif not is_link(value):
            advice += ", or read lists as label sets with --task multi-label"
        source.report_error("HW121", problem, record.line, expected="one label", advice=advice)
    else:
        advice = f"fill it in or remove the row{skip_hint}"
        if source.table == "xlsx":
            advice += "; of merged cells only the first has a value; if it is a formula, open and save the "
            advice += "workbook in Excel or LibreOffice, which computes it"
        source.report_error("HW120", "an empty label", record.line, advice=advice)
    return None
