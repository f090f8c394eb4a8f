"""In-memory tables as files: Arrow tables, `datasets.Dataset`, DataFrames of pandas and Polars."""

import json
import math
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, time
from decimal import Decimal
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol, cast

from headwise.core.errors import ConfigError
from headwise.data.files.compression import NamedFile
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
def tables_as_files(*arguments: DataArgument | None) -> Generator[list[FilesArgument | None]]:
    """The arguments with temporary jsonl files instead of tables; they are removed at the end.

    Messages name the files by number: `table-1.jsonl:4` is row 4 of the first table.

    Raises:
        ConfigError: A table has no rows, two columns of one name, or a value that JSON cannot hold; or it
            is a `DatasetDict`.
    """
    if not any(map(_is_table, arguments)):
        yield cast(list[FilesArgument | None], list(arguments))
        return
    with TemporaryDirectory(prefix="headwise-tables-") as folder:
        yield [
            _write_jsonl(cast(MemoryTable, argument), Path(folder), f"table-{number}.jsonl")
            if _is_table(argument)
            else cast(FilesArgument | None, argument)
            for number, argument in enumerate(arguments, start=1)
        ]


def _is_table(argument: DataArgument | None) -> bool:
    """Whether an argument is an in-memory table. Other arguments are checked where they are opened."""
    if argument is None or isinstance(argument, str | PathLike | FileList | Sequence):
        return False
    return any(hasattr(argument, name) for name in ("collect", "columns", "column_names"))


def _write_jsonl(table: Any, folder: Path, name: str) -> NamedFile:
    file = folder / name
    if hasattr(table, "collect"):  # a LazyFrame of Polars
        table = table.collect()
    _check_columns(table)
    names = _label_names(table)
    empty = True
    with open(file, "w", encoding="utf-8") as lines:
        for row in _rows_of_table(table):
            cells = {str(name): _named(value, names.get(name)) for name, value in row.items()}
            lines.write(_json_line(cells) + "\n")
            empty = False
    if empty:
        raise ConfigError("the table has no rows; expected one for each text")
    return NamedFile(name, str(file))


def _check_columns(table: Any) -> None:
    """Check that a table has a column for each name, of which rows as dictionaries would hold the last."""
    columns = table.column_names if hasattr(table, "column_names") else table.columns
    if isinstance(columns, Mapping):
        names = ", ".join(map(repr, columns))
        first = next(iter(columns), "train")
        raise ConfigError(f"a {type(table).__name__} of {names}; give one of them, such as data[{first!r}]")
    counts = Counter(map(str, () if columns is None else columns))
    if repeated := [name for name, n in counts.items() if n > 1]:
        raise ConfigError(f"several columns are named {repeated[0]!r}; rename or drop all but one")


def _json_line(cells: Mapping[str, Any]) -> str:
    """A row as a line of JSON."""
    try:
        return json.dumps(cells, ensure_ascii=False, default=_json_value)
    except TypeError:
        for name, value in cells.items():
            try:
                json.dumps(value, default=_json_value)
            except TypeError as error:
                expected = "expected texts, numbers, lists or dates; leave the column out, or convert it"
                raise ConfigError(f"the column {name!r} holds a {error}; {expected}") from None
        raise


_Names = Sequence[str] | None


def _named(value: Any, names: _Names) -> Any:
    """The name of a label number, None for -1 (no label), the names in a list of them; other values are
    unchanged."""
    if names is None:
        return value
    if isinstance(value, list):
        return [_named(item, names) for item in value]
    if not isinstance(value, int):
        return value
    return names[value] if value >= 0 else None


def _label_names(table: Any) -> dict[str, Sequence[str]]:
    """The label names of a `datasets.Dataset`, by column; cells hold label numbers, or lists of them."""
    features = getattr(table, "features", None)
    if not isinstance(features, Mapping):
        return {}
    return {name: names for name, kind in features.items() if (names := _names_of_feature(kind))}


def _names_of_feature(feature: Any) -> _Names:
    """The names of a `ClassLabel`, or of that in a list of them (`List`, `Sequence`, `[ClassLabel]`)."""
    if isinstance(feature, list) and len(feature) == 1:
        feature = feature[0]
    return getattr(feature, "names", None) or getattr(getattr(feature, "feature", None), "names", None)


def _rows_of_table(table: Any) -> Iterator[Mapping[str, Any]]:
    if hasattr(table, "to_batches"):  # Arrow
        for batch in table.to_batches():
            yield from batch.to_pylist()
    elif hasattr(table, "to_pylist"):  # a batch of Arrow
        yield from table.to_pylist()
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
    """Convert NumPy values, dates, times, decimals and sets for JSON."""
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return int(value) if value.is_finite() and value == value.to_integral_value() else float(value)
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(type(value).__name__)
