"""In-memory tables as files: Arrow tables, `datasets.Dataset`, DataFrames of pandas and Polars."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, time
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol, cast

from headwise.core.errors import ConfigError
from headwise.data.files.file_lists import FileList, FilesArgument


class ArrowTable(Protocol):
    """A table of Arrow, or a `datasets.Dataset`."""

    @property
    def column_names(self) -> Sequence[str]: ...


class DataFrame(Protocol):
    """A DataFrame of pandas or Polars."""

    @property
    def columns(self) -> Any: ...


MemoryTable = ArrowTable | DataFrame
DataArgument = FilesArgument | MemoryTable
"""One file, a pattern or several of them, or a table in memory."""


@contextmanager
def tables_as_files(*arguments: DataArgument | None) -> Iterator[list[FilesArgument | None]]:
    """The arguments with temporary jsonl files instead of tables; they are removed at the end.

    Raises:
        ConfigError: A table has no rows, or a value that JSON cannot hold.
    """
    if not any(map(_is_table, arguments)):
        yield cast(list[FilesArgument | None], list(arguments))
        return
    with TemporaryDirectory(prefix="headwise-tables-") as folder:
        yield [
            _write_jsonl(cast(MemoryTable, argument), Path(folder) / f"table-{number}.jsonl")
            if _is_table(argument)
            else cast(FilesArgument | None, argument)
            for number, argument in enumerate(arguments, start=1)
        ]


def _is_table(argument: DataArgument | None) -> bool:
    """Whether an argument is an in-memory table. Other arguments are checked where they are opened."""
    if argument is None or isinstance(argument, str | PathLike | FileList | Sequence):
        return False
    return hasattr(argument, "columns") or hasattr(argument, "column_names")


def _write_jsonl(table: MemoryTable, file: Path) -> Path:
    names = _label_names(table)
    empty = True
    with open(file, "w", encoding="utf-8") as lines:
        for row in _rows_of_table(table):
            cells = {str(name): _named(value, names.get(name)) for name, value in row.items()}
            lines.write(json.dumps(cells, ensure_ascii=False, default=_json_value) + "\n")
            empty = False
    if empty:
        raise ConfigError("the table has no rows; expected one for each text")
    return file


def _named(value: Any, names: Sequence[str] | None) -> Any:
    """The name of a label number, None for -1 (no label); other values are unchanged."""
    if names is None or not isinstance(value, int):
        return value
    return names[value] if value >= 0 else None


def _label_names(table: Any) -> dict[str, Sequence[str]]:
    """The label names of a `datasets.Dataset`, by column; its cells hold label numbers."""
    features = getattr(table, "features", None)
    if not isinstance(features, Mapping):
        return {}
    return {name: kind.names for name, kind in features.items() if getattr(kind, "names", None)}


def _rows_of_table(table: Any) -> Iterator[Mapping[str, Any]]:
    if hasattr(table, "to_batches"):  # Arrow
        for batch in table.to_batches():
            yield from batch.to_pylist()
    elif hasattr(table, "iter_rows"):  # Polars
        yield from table.iter_rows(named=True)
    elif hasattr(table, "column_names"):  # datasets
        yield from table
    else:  # pandas
        for row in table.to_dict("records"):
            yield {name: None if _is_missing(value) else value for name, value in row.items()}


def _is_missing(value: object) -> bool:
    return type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and math.isnan(value))


def _json_value(value: Any) -> Any:
    """Convert NumPy values, dates and times for JSON.

    Raises:
        ConfigError: The value has another type.
    """
    if isinstance(value, date | time):
        return value.isoformat()
    if hasattr(value, "tolist"):
        return value.tolist()
    raise ConfigError(f"a cell holds a {type(value).__name__}; expected texts, numbers, lists or dates")
