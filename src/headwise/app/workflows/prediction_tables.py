"""Predictions as Parquet and Arrow files: records of jsonl, converted when all are written."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from headwise.core.config import JsonObject
from headwise.core.errors import ConfigError
from headwise.core.file_lock import atomic_output
from headwise.models.prediction_file import OutputError, reporting_write_errors

TABLE_SUFFIXES = {".parquet": "parquet", ".arrow": "arrow", ".feather": "arrow"}
"""The formats of tables, by file suffix."""
PLACE = "{}"
"""What stands for the number of a file in the name of an output of several files."""
_USUAL_ROWS = 1_000_000
_AT_ONCE = 4_096  # records


@dataclass(frozen=True)
class TableOutput:
    """An output of one table file or several.

    Attributes:
        pattern: The file; with `{}` for the number of each of several files.
        form: parquet or arrow.
        rows: The largest number of rows in a file; None for one file.
    """

    pattern: Path
    form: str
    rows: int | None = None

    @classmethod
    def of(cls, output: Path | None, form: str | None, rows: int | None) -> "TableOutput | None":
        """The table that an output names; None for other outputs.

        Args:
            output: The file, a name with `{}`, or with `rows` a folder; None for standard output.
            form: The format that the user named, if any.
            rows: The largest number of rows in a file.

        Raises:
            ConfigError: `rows` is not positive, or the output is not one that can be cut into files.
        """
        if rows is not None and rows < 1:
            raise ConfigError(f"--shard-rows {rows}; expected 1 or more")
        if output is None:
            if rows is not None or form in TABLE_SUFFIXES.values():
                raise ConfigError("Parquet and Arrow files, and several files, need --output")
            return None
        if rows is not None and (output.is_dir() or not output.suffix):
            suffix = next((end for end, name in TABLE_SUFFIXES.items() if name == form), ".parquet")
            output = output / f"part-{PLACE}{suffix}"
        table_form = form or TABLE_SUFFIXES.get(output.suffix.lower())
        is_sharded = PLACE in output.name
        if table_form is None or table_form not in TABLE_SUFFIXES.values():
            if is_sharded or rows is not None:
                raise ConfigError(
                    f"{output}: only Parquet and Arrow files are cut; name it part-{PLACE}.parquet, or cut "
                    "other files by split"
                )
            return None
        if rows is not None and not is_sharded:
            raise ConfigError(f"{output}: --shard-rows makes several files; name it part-{PLACE}.parquet")
        return cls(output, table_form, rows or _USUAL_ROWS if is_sharded else None)

    @property
    def records(self) -> Path:
        """The file of records beside the output, which is removed when the tables are complete."""
        return self.pattern.with_name(self.pattern.name.replace(PLACE, "all") + ".jsonl")

    def existing(self) -> list[Path]:
        """The files of an earlier run."""
        if self.rows is None:
            return [self.pattern] if self.pattern.exists() else []
        return sorted(self.pattern.parent.glob(self.pattern.name.replace(PLACE, "[0-9]" * 5)))

    def check(self, *, overwrite: bool) -> None:
        """Check that the output can be written.

        Raises:
            ConfigError: pyarrow is not installed.
            OutputError: HW601, it exists; HW604, its folder does not exist.
        """
        _import("pyarrow")
        if not self.pattern.parent.is_dir():
            if self.pattern.parent.exists() or not self.pattern.parent.parent.is_dir():
                raise OutputError(f"{self.pattern.parent} is no folder; make it first", code="HW604")
            with reporting_write_errors(self.pattern.parent):
                self.pattern.parent.mkdir()
        if not overwrite and (files := self.existing()):
            raise OutputError(f"{files[0]} exists; add --overwrite to replace it", code="HW601")

    def convert(self) -> list[Path]:
        """Make the tables of the file of records, all or none, and remove it; returns their paths.

        Columns have the type of all their values: numbers, truth values, texts; a column that holds values
        of several types becomes one of texts.

        Raises:
            OutputError: HW604, they cannot be written.
        """
        schema = _schema_of(self.records)
        old, written = self.existing(), list[Path]()
        with reporting_write_errors(self.pattern), ExitStack() as complete:
            records = _read(self.records)
            while True:
                file = self.pattern
                if self.rows is not None:
                    file = file.with_name(file.name.replace(PLACE, f"{len(written):05d}"))
                part = complete.enter_context(atomic_output(file))
                count = _write(part, self.form, schema, records, self.rows)
                written.append(file)
                if self.rows is None or count < self.rows or not (first := next(records, None)):
                    break
                records = _chained(first, records)
        for file in set(old) - set(written):
            file.unlink()
        with suppress(FileNotFoundError):
            self.records.unlink()
        return written


def _chained(first: JsonObject, rest: Iterator[JsonObject]) -> Iterator[JsonObject]:
    yield first
    yield from rest


def _import(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise ConfigError("Parquet and Arrow files need pyarrow: pip install '.[tables]'") from None


def _read(file: Path) -> Iterator[JsonObject]:
    """The records of a jsonl file; the object of probabilities becomes columns `probability:LABEL`."""
    with open(file, "rb") as lines:
        for line in lines:
            yield dict(_flat(json.loads(line)))


def _flat(record: JsonObject) -> Iterator[tuple[str, Any]]:
    for name, value in record.items():
        if name.startswith("probabilities") and isinstance(value, dict):
            yield from ((f"probability{name[13:]}:{label}", share) for label, share in value.items())
        else:
            yield name, value


def _batches(records: Iterator[JsonObject]) -> Iterator[list[JsonObject]]:
    while rows := list(islice(records, _AT_ONCE)):
        yield rows


def _schema_of(file: Path) -> Any:
    """The schema that fits all records of a file; no type is guessed from a part of them."""
    arrow = _import("pyarrow")
    types: dict[str, Any] = {}
    for rows in _batches(_read(file)):
        for name in dict.fromkeys(name for row in rows for name in row):
            values = [row.get(name) for row in rows]
            try:
                kind = arrow.array(values).type
            except (arrow.ArrowInvalid, arrow.ArrowTypeError):
                kind = arrow.string()
            types[name] = _common_type(arrow, types.get(name, arrow.null()), kind)
    if not types:
        types = {"prediction": arrow.string(), "probability": arrow.float64()}
    fields = [(name, arrow.string() if arrow.types.is_null(kind) else kind) for name, kind in types.items()]
    return arrow.schema(fields)


def _common_type(arrow: Any, first: Any, second: Any) -> Any:
    if first == second or arrow.types.is_null(second):
        return first
    if arrow.types.is_null(first):
        return second
    try:
        fields = [arrow.schema([("value", kind)]) for kind in (first, second)]
        return arrow.unify_schemas(fields, promote_options="permissive").field("value").type
    except (arrow.ArrowInvalid, arrow.ArrowTypeError):
        return arrow.string()


def _write(part: Path, form: str, schema: Any, records: Iterator[JsonObject], most: int | None) -> int:
    """Write up to `most` records to a table file; returns how many there were."""
    arrow = _import("pyarrow")
    new: Callable[..., Any] = (
        _import("pyarrow.parquet").ParquetWriter if form == "parquet" else arrow.ipc.new_file
    )
    count = 0
    with open(part, "wb") as sink, new(sink, schema) as table:
        for rows in _batches(records if most is None else islice(records, most)):
            columns = [
                _column(arrow, [row.get(field.name) for row in rows], field.type) for field in schema
            ]
            table.write_batch(arrow.record_batch(columns, schema=schema))
            count += len(rows)
    return count


def _column(arrow: Any, values: list[Any], kind: Any) -> Any:
    if arrow.types.is_string(kind):
        values = [
            value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            for value in values
        ]
    return arrow.array(values, type=kind)
