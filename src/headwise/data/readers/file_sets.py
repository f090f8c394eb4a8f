"""What readers share: several files are read as one data set, whose columns must agree; labels are cleaned,
and notes say what was left out.

Code: HW111 the columns of a file are not those of the first.
"""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import Any

from headwise.core.errors import HeadwiseError
from headwise.core.text_normalization import without_invisible
from headwise.data.columns.cell_values import as_text, parse_cell
from headwise.data.columns.file_source import DataSource
from headwise.data.errors import DataError, OnError, raise_error
from headwise.data.files.compression import read_once
from headwise.data.files.file_lists import FileLine, Files, paths_of
from headwise.data.findings import abbreviate
from headwise.data.formats import FORMATS
from headwise.data.items.dataset import InputRow, InputRows
from headwise.data.items.item_type import ItemType


def repeated_header_notes(source: DataSource) -> list[str]:
    """A note on the rows that repeat the header, if there are any."""
    if not source.layout.repeated:
        return []
    lines = abbreviate([str(line) for line in source.layout.repeated])
    return [f"rows that repeat the header left out: {len(source.layout.repeated):,} (line {lines})"]


def null_text_notes(source: DataSource) -> list[str]:
    """Notes on the texts that are null, if there are any."""
    notes = []
    if source.counts.nulls:
        notes.append(f"texts that are null, read as empty ones: {source.counts.nulls:,}")
    if source.counts.skipped_nulls:
        notes.append(f"rows left out because their text is null: {source.counts.skipped_nulls:,}")
    return notes


def note_left_out(source: DataSource) -> None:
    """Add notes with the numbers of null texts, blank lines, repeated headers and cleaned labels."""
    source.notes.extend(null_text_notes(source))
    if source.counts.blank:
        source.notes.append(f"blank lines passed over: {source.counts.blank:,}")
    source.notes.extend(repeated_header_notes(source))
    if source.counts.cleaned:
        many = "1 label" if source.counts.cleaned == 1 else f"{source.counts.cleaned:,} labels"
        source.notes.append(f"leading or trailing white space or invisible characters stripped from {many}")


def clean_label(value: object, source: DataSource) -> str:
    """A label without invisible characters and white space at its ends; counts those that had any. The null
    of MySQL and PostgreSQL, `\\N`, is an empty label. Equal labels are one object, which saves memory."""
    written = as_text(value)
    if written == "\\N":
        return ""
    label = without_invisible(written)
    source.counts.cleaned += label != written
    if label[:2] in ("b'", 'b"') and isinstance(decoded := parse_cell(f"[{label}]"), list):
        label = without_invisible(as_text(decoded[0]))  # Python's bytes
    return sys.intern(str(label))


_SUFFIX, _NO_COLUMN, _NO_ROWS = "_column", "HW111", "HW113"


def read_files_as_one(
    item_type: ItemType,
    files: Files,
    options: Any = None,
    on_error: OnError = raise_error,
    *,
    schema: Any = None,
    examine: bool = False,
    training: Any = None,
) -> Any:
    """Read one file or several with labels into memory; see `ItemType.read`.

    Columns that were guessed are those of the first file, by name. The line of an item of several files is
    a `FileLine`, so that places in messages name the right file. Of several files, those that have a header
    and no rows are left out, unless all are like that.

    Args:
        files: The files.
        options: See `ItemType.read`.
        on_error: See `ItemType.read`.
        schema: See `ItemType.read`.
        examine: Read for the doctor.
        training: The training data: the files have its columns, as far as they have columns of their names.

    Raises:
        DataError: HW111, the columns of a file are not those of the first; and as `ItemType.read`.
    """
    if training is not None and not any(map(read_once, paths_of(files))):
        options = item_type.options() if options is None else options
        named = _with_columns(options, training)
        try:
            data = read_files_as_one(item_type, files, named, on_error, schema=schema, examine=examine)
        except HeadwiseError as error:
            if isinstance(error, DataError) and error.code != _NO_COLUMN:
                raise
        else:
            before = vars(options)
            columns = {option: name for option, name in vars(named).items() if name != before[option]}
            return replace(data, notes=(*data.notes, training_columns_note(columns))) if columns else data
    read = item_type.examine if examine else item_type.read
    if isinstance(files, str):
        return read(files, options, on_error, schema=schema)
    data_sets, without_rows = list[Any](), list[str]()
    for name in files.paths:
        try:
            data = read(name, options, on_error, schema=schema)
        except DataError as error:
            none_is_left = not data_sets and name == files.paths[-1]
            if examine or error.code != _NO_ROWS or none_is_left:
                raise
            without_rows.append(name)
            continue
        if not data_sets:
            options = _with_columns(item_type.options() if options is None else options, data)
            schema = item_type.schema(data) if schema is None else schema
        else:
            check_same_columns(data_sets[0], data)
            data, _ = item_type.label_type.respell_as_training(list(data_sets[0].labels), data)
        data_sets.append(data)
    first = data_sets[0]
    notes = list(first.notes)
    notes += [note for data in data_sets[1:] for note in data.notes if note not in notes]
    sizes = ", ".join(f"{data.path} {len(data.items):,}" for data in data_sets[:3])
    more = ", ..." * (len(data_sets) > 3)
    nouns = item_type.nouns.many
    if len(data_sets) > 1:
        notes.append(f"{len(data_sets):,} files are read one after the other; {nouns}: {sizes}{more}")
    if without_rows:
        notes.append(f"files with a header and no rows, left out: {abbreviate(without_rows)}")
    notes += item_type.file_set_notes(data_sets)
    merged = {
        "items": [
            replace(item, line=FileLine(item.line, data.path)) for data in data_sets for item in data.items
        ],
        "path": str(files),
        "notes": tuple(dict.fromkeys(notes)),
        "empty": sum(data.empty for data in data_sets),
        "skipped": sum(data.skipped for data in data_sets),
        "unlabelled": sum(data.unlabelled for data in data_sets),
        "findings": tuple(finding for data in data_sets for finding in data.findings),
    }
    if hasattr(first, "documents"):  # numbers of sentences, which begin again in each file
        merged |= {"documents": (), "files": ()}
    return replace(first, **merged)


def rows_of_files(first: InputRows, rest: Iterator[InputRows]) -> InputRows:
    """The records of several files as one stream; each file is opened when it is reached.

    Raises:
        DataError: HW111, the columns of a file are not those of the first; while iterating.
    """

    def rows() -> Iterator[InputRow[Any]]:
        yield from _placed(first)
        for later in rest:
            check_same_columns(first, later)
            yield from _placed(later)

    return replace(first, rows=rows())


def _placed(rows: InputRows) -> Iterator[InputRow[Any]]:
    for row in rows:
        line = FileLine(row.line, rows.path)
        yield replace(row, line=line, item=replace(row.item, line=line))


def training_columns_note(columns: Mapping[str, object]) -> str:
    """A note on the columns, by the options that name them, which are those of the training data."""
    shown = ", ".join(f"{option.removesuffix(_SUFFIX)}={name!r}" for option, name in columns.items())
    flags = "/".join(f"--{option.replace('_', '-')}" for option in columns)
    return f"columns as in training: {shown} - override with {flags}"


def _with_columns(options: Any, data: Any) -> Any:
    """Reading options that name the columns of a table that has been read, as far as none was named."""
    if not _is_table(getattr(data, "format", "")):
        return options
    names = {
        option.name: name
        for option in fields(options)
        if option.name.endswith(_SUFFIX)
        and getattr(options, option.name) is None
        and isinstance(name := getattr(data.columns, option.name.removesuffix(_SUFFIX), None), str)
    }
    exclusive = getattr(options, "label_columns", None) or getattr(options, "probability_columns", None)
    if exclusive:
        names.pop("label_column", None)
    return replace(options, **names)


def check_same_columns(first: Any, later: Any) -> None:
    """Check that two files were read from the same columns, if these can be chosen: a format that is no
    table, such as brat's, decides itself what its words and labels are called.

    Raises:
        DataError: HW111, naming the second file.
    """
    if first.format != later.format and not (_is_table(first.format) and _is_table(later.format)):
        return
    ours, theirs = (_chosen_columns(data.columns) for data in (first, later))
    if ours != theirs:
        shown, expected = (
            ", ".join(f"{key} {name!r}" for key, name in names.items()) for names in (theirs, ours)
        )
        advice = "give files with the same columns, or name the columns"
        if all(map(str.isdecimal, ours.values())) and not any(map(str.isdecimal, theirs.values())):
            advice = f"{first.path} has no header: write one above its rows, too"
        problem = f"the columns are {shown or 'unnamed'}, not those of {first.path}"
        raise DataError(
            "HW111", problem, expected=expected or "a file without columns", advice=advice, path=later.path
        )


def _is_table(name: str) -> bool:
    """Whether files of a format have columns to choose."""
    return name in FORMATS and FORMATS[name].table


def _chosen_columns(columns: Any) -> Mapping[str, str]:
    """The chosen columns of a file, by what they hold."""
    keys = ("text", "label", "first", "second", "bag", "token", "tag")
    names = {key: name for key in keys if isinstance(name := getattr(columns, key, None), str)}
    flags = getattr(columns, "flags", ())
    return names | ({"labels": ", ".join(sorted(flags))} if flags else {})
