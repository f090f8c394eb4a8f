"""The rows of a Parquet file as JSON objects.

Lists and structs become arrays and objects, other values what JSON has for them. Integer labels of Hugging
Face data sets are replaced by the label names stored in the file. Columns of bytes are texts if the first
ones are valid UTF-8; others (images, audio) are left out.

Codes: HW101 it has no sheets; HW102 damage; HW103 nothing to read in it; HW104 far larger than the file;
HW105 bytes that are no text; HW112 two columns of one name.
"""

import json
import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from headwise.core.config import JsonObject
from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.errors import DataError
from headwise.data.files.label_numbers import class_label_names, legend_note, named_labels
from headwise.data.files.table_cells import cell_text, damage_as_data_error, import_optional_library
from headwise.data.files.text_lines import BOMB_RATIO, BOMB_SIZE
from headwise.data.findings import abbreviate

_AT_ONCE = 1024  # rows
_INDEX = "__index_level_0__"  # the numbers of rows that pandas writes


def parquet_rows(file: str, sheet: str | None, notes: list[str]) -> Iterator[tuple[int, dict[str, object]]]:
    """The row numbers of a file, from 1, and the rows as JSON objects.

    Args:
        sheet: Must be None, as the format has no sheets.
        notes: Receives notes on columns that are left out and on label names that replace numbers.

    Raises:
        DataError: HW101 to HW104, HW109, HW112.
    """
    if sheet is not None:
        raise DataError("HW101", f"a Parquet file, which has no {sheet!r} in it", path=file)
    parquet = import_optional_library("pyarrow.parquet", "a Parquet file", file)
    with _damage_as_error(file):
        # Repeated values are stored once and pages are read on demand, so a batch stays small.
        with parquet.ParquetFile(file) as opened:
            leaves = [opened.schema.column(i) for i in range(len(opened.schema))]
        dictionaries = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
        opened = parquet.ParquetFile(file, read_dictionary=dictionaries, buffer_size=1 << 20)
    with opened:
        _check_size(opened.metadata, file)
        columns, named = _columns(opened, file, notes)
        batches = opened.iter_batches(_AT_ONCE, columns=columns, use_threads=False)
        number = 0
        while True:
            with _damage_as_error(file):
                batch = next(batches, None)
                if batch is None:
                    return
                cells = [(name, _in_microseconds(batch.column(name), file)) for name in columns]
            for place in range(batch.num_rows):
                number += 1
                with _damage_as_error(file):
                    values = {name: column[place].as_py() for name, column in cells}
                row = {
                    name: _decoded(value, name, number, file)
                    if isinstance(value, bytes)
                    else _json_value(named_labels(value, named.get(name, {})))
                    for name, value in values.items()
                }
                yield number, row


def parquet_columns(file: str) -> list[str]:
    """The names of the columns of a file that holds text or numbers.

    Raises:
        DataError: HW102, HW109.
    """
    parquet = import_optional_library("pyarrow.parquet", "a Parquet file", file)
    with _damage_as_error(file), parquet.ParquetFile(file) as opened:
        return _columns(opened, file, [])[0]


def _damage_as_error(file: str) -> Any:
    return damage_as_data_error("a Parquet file", file, "copy or download it again")


def _check_size(metadata: Any, file: str) -> None:
    """Raise HW104 if the metadata state a size far above that of the file (a decompression bomb)."""
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    unpacked, packed = sum(group.total_byte_size for group in groups), os.path.getsize(file)
    if unpacked > max(BOMB_SIZE, BOMB_RATIO * packed):
        problem = f"a Parquet file of {packed:,} bytes that holds {unpacked:,}"
        raise DataError("HW104", problem, expected="a table", path=file)


def _columns(opened: Any, file: str, notes: list[str]) -> tuple[list[str], JsonObject]:
    """The names of the readable columns, and the label names of columns that hold label numbers."""
    schema = opened.schema_arrow
    if twice := [name for name, times in Counter(schema.names).items() if times > 1]:
        raise DataError("HW112", f"two columns named {twice[0]!r}", advice="rename one", path=file)
    left = [field.name for field in schema if _BYTES.search(str(field.type))]
    flat = [name for name in left if _FLAT_BYTES.fullmatch(str(schema.field(name).type))]
    texts = _columns_of_encoded_texts(opened, flat) if flat else []
    if texts:
        notes.append(f"columns of bytes that are read as texts in UTF-8: {abbreviate([*map(repr, texts)])}")
        left = [name for name in left if name not in texts]
    if left:
        notes.append(f"columns left out, as they hold bytes: {abbreviate([*map(repr, left)])}")
    readable = [name for name in schema.names if name not in (*left, _INDEX)]
    if not readable:
        raise DataError("HW103", "no column of texts or numbers", expected="a table", path=file)
    named = {}
    for name, feature in _huggingface_features(schema.metadata).items():
        if name in readable and (legend := class_label_names(feature)):
            named[name] = legend
            notes.append(legend_note(name, legend))
    return readable, named


_FLAT_BYTES = lazy_pattern(r"(dictionary<values=)?(large_)?binary(_view)?(,.*>)?")
_BYTES = lazy_pattern(r"binary(_view)?($|[\[,>])")
"""Occurs in the types of columns that contain bytes."""
_LOOKED_AT = 100  # rows


def _columns_of_encoded_texts(opened: Any, names: Sequence[str]) -> list[str]:
    """The columns of bytes that hold texts in UTF-8, as Impala, Hive and old versions of Spark write."""
    batch = next(opened.iter_batches(_LOOKED_AT, columns=[*names], use_threads=False), None)
    if batch is None:
        return []
    values = {name: [*filter(None, batch.column(name).to_pylist())] for name in names}
    return [name for name, cells in values.items() if cells and all(map(_is_encoded_text, cells))]


def _is_encoded_text(cell: bytes) -> bool:
    try:
        text = cell.decode()
    except UnicodeDecodeError:
        return False
    return not any(character < " " and not character.isspace() for character in text)


def _decoded(value: bytes, name: str, number: int, file: str) -> str:
    """A text in UTF-8."""
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        problem = f"bytes in the column {name!r} that are not valid UTF-8: {error.reason}"
        raise DataError(
            "HW105", problem, advice="write the column as strings", path=file, line=number
        ) from None


def _huggingface_features(metadata: Mapping[bytes, bytes] | None) -> JsonObject:
    """The column descriptions in the metadata of Hugging Face's `datasets`; empty if there are none."""
    try:
        features = json.loads((metadata or {})[b"huggingface"])["info"]["features"]
    except (KeyError, ValueError, TypeError, RecursionError):
        return {}
    return features if isinstance(features, dict) else {}


def _json_value(value: object) -> object:
    """A value as JSON has it: NaN is None, and times are text."""
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return None if math.isnan(value) else value
    if isinstance(value, list | tuple):  # a map is a list of pairs
        return [_json_value(element) for element in value]
    if isinstance(value, dict):
        return {name: _json_value(element) for name, element in value.items()}
    return cell_text(value)


def _in_microseconds(column: Any, file: str) -> Any:
    """A column with time values rounded down to microseconds, which Python can represent."""
    name, _, unit = str(column.type).partition("[")
    if not unit.startswith("ns"):
        return column
    zone = [column.type.tz] if name == "timestamp" else []
    kind = getattr(
        import_optional_library("pyarrow", "a Parquet file", file), name
    )  # or of duration, time64
    return column.cast(kind("us", *zone), safe=False)
