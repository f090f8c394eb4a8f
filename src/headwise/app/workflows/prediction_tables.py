"""Predictions as Parquet, Arrow and Excel files, converted from a jsonl file at the end; and predictions in
several files, cut from one file at the end."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

from headwise.app.workflows.table_output import check_form, import_library, write_workbook
from headwise.core.config import JsonObject
from headwise.core.errors import ConfigError
from headwise.core.file_lock import atomic_output
from headwise.models.output_file import FORMATS, OutputError, reporting_write_errors

TABLE_SUFFIXES = {".parquet": "parquet", ".arrow": "arrow", ".feather": "arrow", ".xlsx": "xlsx"}
"""The formats of tables, by file suffix."""
PLACE = "{}"
"""Placeholder for the number of a file in the name of an output of several files."""
_USUAL_ROWS = 1_000_000
_AT_ONCE = 4_096  # records


@dataclass(frozen=True)
class TableOutput:
    """An output of one table file, or of several files.

    Attributes:
        pattern: The file; with `{}` for the number of each of several files.
        form: parquet, arrow or xlsx; of several files also csv, tsv or jsonl.
        rows: The largest number of rows in a file; None for one file.
    """

    pattern: Path
    form: str
    rows: int | None = None

    @classmethod
    def of(cls, output: Path | None, form: str | None, rows: int | None) -> "TableOutput | None":
        """The output as a table or as several files; None for other outputs.

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
                raise ConfigError("Parquet, Arrow and Excel files, and several files, need --output")
            return None
        forms = TABLE_SUFFIXES | FORMATS
        if rows is not None and (output.is_dir() or not output.suffix):
            suffix = next((end for end, name in forms.items() if name == form), ".parquet")
            output = output / f"part-{PLACE}{suffix}"
        form = form or forms.get(output.suffix.lower())
        is_sharded = PLACE in output.name
        if (is_sharded or rows is not None) and form not in forms.values():
            expected = ", ".join(dict.fromkeys(forms.values()))
            raise ConfigError(f"{output}: files of this format are not cut; expected {expected}")
        if rows is not None and not is_sharded:
            named = f"part-{PLACE}{output.suffix}"
            raise ConfigError(f"{output}: --shard-rows makes several files; name it {named}")
        if form is None or (not is_sharded and form in FORMATS.values()):
            return None
        return cls(output, form, rows or _USUAL_ROWS if is_sharded else None)

    @property
    def is_table(self) -> bool:
        """Whether the files are of Parquet, Arrow or Excel."""
        return self.form in TABLE_SUFFIXES.values()

    @property
    def record_form(self) -> str:
        """The format of the file of records."""
        return "jsonl" if self.is_table else self.form

    @property
    def records(self) -> Path:
        """The file of records beside the output, which is removed when the files are complete."""
        return self.pattern.with_name(self.pattern.name.replace(PLACE, "all") + f".{self.record_form}")

    def existing(self) -> list[Path]:
        """The files that exist already."""
        if self.rows is None:
            return [self.pattern] if self.pattern.exists() else []
        numbered = re.compile(re.escape(self.pattern.name).replace(re.escape(PLACE), "[0-9]{5,}"))
        return sorted(path for path in self.pattern.parent.iterdir() if numbered.fullmatch(path.name))

    def check(self, *, overwrite: bool) -> None:
        """Check that the output can be written.

        Raises:
            ConfigError: pyarrow or openpyxl is needed, and not installed.
            OutputError: HW601, it exists; HW604, its folder does not exist.
        """
        if self.is_table:
            check_form(self.form) if self.form == "xlsx" else _import("pyarrow")
        if not self.pattern.parent.is_dir():
            if self.pattern.parent.exists() or not self.pattern.parent.parent.is_dir():
                raise OutputError(f"{self.pattern.parent} is not a folder; create it first", code="HW604")
            with reporting_write_errors(self.pattern.parent):
                self.pattern.parent.mkdir()
        if not overwrite and (files := self.existing()):
            raise OutputError(f"{files[0]} exists; add --overwrite to replace it", code="HW601")

    def convert(self) -> list[Path]:
        """Convert the file of records to the output files, all or none, and remove it; returns their paths.

        Columns of tables have the common type of their values; a column with values of several types
        becomes a column of texts. Each csv or tsv file has the header.

        Raises:
            OutputError: HW604, they cannot be written.
        """
        old, written = self.existing(), list[Path]()
        records, write = self._records_and_writer()
        with reporting_write_errors(self.pattern), ExitStack() as complete:
            while True:
                file = self.pattern
                if self.rows is not None:
                    file = file.with_name(file.name.replace(PLACE, f"{len(written):05d}"))
                count = write(complete.enter_context(atomic_output(file)), records, self.rows)
                written.append(file)
                first = list(islice(records, self.rows is not None and count == self.rows))
                if not first:
                    break
                records = chain(first, records)
        for file in set(old) - set(written):
            file.unlink()
        with suppress(FileNotFoundError):
            self.records.unlink()
        return written

    def _records_and_writer(self) -> tuple[Iterator[Any], Callable[[Path, Iterator[Any], int | None], int]]:
        """The records of the file of records, and the function that writes those of one file."""
        if self.form == "xlsx":
            names = [*dict.fromkeys(chain.from_iterable(_read_records(self.records)))]
            return _read_records(self.records), partial(_write_sheet, names=names)
        if self.is_table:
            return _read_records(self.records), partial(
                _write_part, form=self.form, schema=_schema_of(self.records)
            )
        rows = _rows_of_lines(self.records, quoted=self.form == "csv")
        header = b"" if self.form == "jsonl" else next(rows, b"")
        return rows, partial(_write_rows, header=header)


def _import(name: str) -> Any:
    return import_library(name, "Parquet and Arrow files")


def _read_records(file: Path) -> Iterator[JsonObject]:
    """The records of a jsonl file; the object of probabilities becomes columns `probability:LABEL`."""
    with open(file, "rb") as lines:
        for line in lines:
            yield dict(_flat_items(json.loads(line)))


def _flat_items(record: JsonObject) -> Iterator[tuple[str, Any]]:
    for name, value in record.items():
        if name.startswith("probabilities") and isinstance(value, dict):
            yield from ((f"probability{name[13:]}:{label}", share) for label, share in value.items())
        else:
            yield name, value


def _rows_of_lines(file: Path, *, quoted: bool) -> Iterator[bytes]:
    """The rows of a file of lines; where fields are quoted, one may span lines."""
    with open(file, "rb") as lines:
        row, marks = list[bytes](), 0
        for line in lines:
            row.append(line)
            marks += line.count(b'"') if quoted else 0
            if marks % 2 == 0:
                yield b"".join(row)
                row.clear()
        if row:
            yield b"".join(row)


def _write_rows(part: Path, rows: Iterator[bytes], most: int | None, header: bytes) -> int:
    """Write a header and up to `most` rows to a file; returns how many rows there were."""
    count = 0
    with open(part, "wb") as file:
        file.write(header)
        for row in islice(rows, most):
            file.write(row)
            count += 1
    return count


def _write_sheet(part: Path, records: Iterator[JsonObject], most: int | None, names: Sequence[str]) -> int:
    """Write up to `most` records to a workbook; returns how many there were."""
    rows = ([record.get(name) for name in names] for record in islice(records, most))
    return write_workbook(part, chain([names], rows)) - 1


def _row_batches(records: Iterator[JsonObject]) -> Iterator[list[JsonObject]]:
    while rows := list(islice(records, _AT_ONCE)):
        yield rows


def _schema_of(file: Path) -> Any:
    """The schema of all records of a file (types are not guessed from a part of them)."""
    arrow = _import("pyarrow")
    types: dict[str, Any] = {}
    for rows in _row_batches(_read_records(file)):
        for name in dict.fromkeys(name for row in rows for name in row):
            values = [row.get(name) for row in rows]
            try:
                kind = arrow.array(values).type
            except (arrow.ArrowInvalid, arrow.ArrowTypeError, OverflowError):  # of integers above 64 bits
                numbers = all(value is None or type(value) in (int, float) for value in values)
                mixed = numbers and any(type(value) is float for value in values)
                kind = arrow.float64() if mixed else arrow.string()
            if _has_empty_struct(arrow, kind):
                kind = arrow.string()
            types[name] = _common_type(arrow, types.get(name, arrow.null()), kind)
    if not types:
        types = {"prediction": arrow.string(), "probability": arrow.float64()}
    fields = [(name, arrow.string() if arrow.types.is_null(kind) else kind) for name, kind in types.items()]
    return arrow.schema(fields)


def _has_empty_struct(arrow: Any, kind: Any) -> bool:
    """Whether a type has a struct without fields, as of `{}`, which Parquet does not have."""
    if arrow.types.is_list(kind):
        return _has_empty_struct(arrow, kind.value_type)
    if not arrow.types.is_struct(kind):
        return False
    return not kind.num_fields or any(_has_empty_struct(arrow, field.type) for field in kind)


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


def _write_part(part: Path, records: Iterator[JsonObject], most: int | None, form: str, schema: Any) -> int:
    """Write up to `most` records to a table file; returns how many there were."""
    arrow = _import("pyarrow")
    new: Callable[..., Any] = (
        _import("pyarrow.parquet").ParquetWriter if form == "parquet" else arrow.ipc.new_file
    )
    count = 0
    with open(part, "wb") as sink, new(sink, schema) as table:
        for rows in _row_batches(records if most is None else islice(records, most)):
            columns = [
                _arrow_column(arrow, [row.get(field.name) for row in rows], field.type) for field in schema
            ]
            table.write_batch(arrow.record_batch(columns, schema=schema))
            count += len(rows)
    return count


def _arrow_column(arrow: Any, values: list[Any], kind: Any) -> Any:
    if arrow.types.is_string(kind):
        values = [
            value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            for value in values
        ]
    elif arrow.types.is_floating(kind):  # Arrow refuses integers that are rounded
        values = [None if value is None else float(value) for value in values]
    return arrow.array(values, type=kind)
