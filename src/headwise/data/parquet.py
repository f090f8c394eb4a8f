"""The rows of a Parquet file as lines of JSON, an object a row, as the columns say.

Lists and structs stay what they are. Labels that Hugging Face's data sets keep as numbers get the names
that stand in the file. Columns of bytes (pictures, sounds) are left out.

Codes: HW101 it has no sheets; HW102 damage; HW103 nothing to read in it; HW104 far larger than the file;
HW112 two columns of one name.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from headwise.data.cells import cell_text
from headwise.data.diagnosis import some
from headwise.data.errors import DataError
from headwise.data.files import BOMB_RATIO, BOMB_SIZE, Line
from headwise.data.libraries import library, telling_damage

_AT_ONCE = 1024  # rows
_INDEX = "__index_level_0__"  # the numbers of rows that pandas writes


def parquet_lines(file: str, sheet: str | None, notes: list[str]) -> Iterator[Line]:
    """The rows of a file, by their numbers from 1.

    Args:
        file: The file.
        sheet: None: it has no sheets.
        notes: Gets what was left out, and the labels that numbers stand for.

    Raises:
        DataError: HW101 to HW104, HW109, HW112.
    """
    if sheet is not None:
        raise DataError("HW101", f"a Parquet file, which has no {sheet!r} in it", path=file)
    parquet = library("pyarrow.parquet", "a Parquet file", file)
    with _careful(file):
        # Values that recur are held once, and pages are read as they are needed: so a batch stays small.
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
            with _careful(file):
                batch = next(batches, None)
                if batch is None:
                    return
                cells = [(name, _plain(batch.column(name), file)) for name in columns]
            for place in range(batch.num_rows):
                number += 1
                with _careful(file):
                    row = {name: _named(own[place].as_py(), named.get(name)) for name, own in cells}
                    text = json.dumps(row, ensure_ascii=False, default=cell_text)
                yield number, text


def _careful(file: str) -> Any:
    return telling_damage("a Parquet file", file, "copy or download it again")


def _check_size(metadata: Any, file: str) -> None:
    """Refuse a file that says itself that it unpacks to far more than it is."""
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    unpacked, packed = sum(group.total_byte_size for group in groups), os.path.getsize(file)
    if unpacked > max(BOMB_SIZE, BOMB_RATIO * packed):
        found = f"a Parquet file of {packed:,} bytes that holds {unpacked:,}"
        raise DataError("HW104", found, expected="a table", path=file)


def _columns(opened: Any, file: str, notes: list[str]) -> tuple[list[str], dict[str, Any]]:
    """The names of the columns that are read, and what the labels of some stand for.

    Raises:
        DataError: HW103, HW112.
    """
    schema = opened.schema_arrow
    if twice := [name for name, times in Counter(schema.names).items() if times > 1]:
        raise DataError("HW112", f"two columns named {twice[0]!r}", advice="rename one", path=file)
    left = [own.name for own in schema if not _is_readable(own.type)]
    if left:
        notes.append(f"columns left out, as they hold bytes: {some([*map(repr, left)])}")
    kept = [name for name in schema.names if name not in (*left, _INDEX)]
    if not kept:
        raise DataError("HW103", "no column of texts or numbers", expected="a table", path=file)
    named = {}
    for name, feature in _features(schema.metadata).items():
        if name in kept and (names := _names_of(feature)):
            named[name] = names
            told = some([f"{i} is {own!r}" for i, own in enumerate(names)])
            notes.append(f"the numbers of {name!r} stand for names, which the file gives: {told}")
    return kept, named


def _is_readable(kind: Any) -> bool:
    """Whether values of a type are no bytes, nor hold any."""
    return not re.search(r"binary(_view)?($|[\[,>])", str(kind))


def _features(metadata: Mapping[bytes, bytes] | None) -> dict[str, Any]:
    """What Hugging Face's library has written about the columns, if it wrote the file."""
    try:
        found = json.loads((metadata or {})[b"huggingface"])["info"]["features"]
    except (KeyError, ValueError, TypeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _names_of(feature: Any) -> list[str]:
    """The names of the labels of a column, also of one of lists; none of any other."""
    while isinstance(feature, dict) and "feature" in feature:
        feature = feature["feature"]
    names = feature.get("names") if isinstance(feature, dict) else None
    return names if isinstance(names, list) and all(isinstance(name, str) for name in names) else []


def _named(value: Any, names: Sequence[str] | None) -> Any:
    """Numbers as the names that they stand for; -1 is none."""
    if names is None:
        return value
    if isinstance(value, list):
        return [_named(own, names) for own in value]
    if value == -1:
        return None
    return names[value] if isinstance(value, int) and 0 <= value < len(names) else value


def _plain(column: Any, file: str) -> Any:
    """A column whose values Python has: moments to the microsecond."""
    name, _, unit = str(column.type).partition("[")
    if not unit.startswith("ns"):
        return column
    zone = [column.type.tz] if name == "timestamp" else []
    kind = getattr(library("pyarrow", "a Parquet file", file), name)  # or of duration, time64
    return column.cast(kind("us", *zone), safe=False)
