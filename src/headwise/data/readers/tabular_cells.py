"""Read the cells of the columns beside the text: guess the types, and check each cell.

Codes: HW145, HW146, HW147.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

from headwise.core.errors import ConfigError
from headwise.data.columns.cell_values import as_text
from headwise.data.columns.file_source import DataSource, Record
from headwise.data.columns.reading_options import ReadOptions
from headwise.data.columns.tabular_columns import TabularColumn, TabularRow, features_text, guess_type
from headwise.data.errors import OnError
from headwise.data.items.examples import Example

AnyExample = TypeVar("AnyExample", bound=Example)


def source_of(
    path: str, options: ReadOptions, on_error: OnError, tabular: Sequence[TabularColumn]
) -> DataSource:
    """A file to read, which must have these columns beside the text; none: those that the options name."""
    if not tabular:
        return DataSource(path, options, on_error)
    with_columns: Any = replace(options, features=features_text(tabular))  # type: ignore[call-arg]
    return DataSource(path, with_columns, on_error, trained=True)


def read_tabular_cells(record: Record, columns: tuple[TabularColumn, ...]) -> TabularRow | None:
    """The cells of the columns beside the text, as they stand in the file; None without such columns."""
    if not columns:
        return None
    return TabularRow(columns, tuple(as_text(record.fields.get(column.name)) for column in columns))


def typed_columns(
    columns: Sequence[TabularColumn], examples: Sequence[Example], source: DataSource
) -> tuple[TabularColumn, ...]:
    """The columns with their types, guessed where they are not named; the types are noted.

    Raises:
        DataError: HW146, a type cannot be guessed.
    """
    typed, shown = list[TabularColumn](), list[str]()
    for place, column in enumerate(columns):
        why = ""
        if column.type is None:
            cells = [example.tabular.values[place] for example in examples if example.tabular]
            try:
                kind, why = guess_type(column.name, [str(cell) for cell in cells])
            except ValueError as error:
                raise source.error(
                    "HW146",
                    f"the type of the column {column.name!r} cannot be guessed: {error}",
                    advice=f"name it: --features {column.name}:TYPE, with one of number, decimal-comma, "
                    "category, date, day-first, month-first; columns of text are joined into the text by "
                    "--text-column",
                ) from None
            column = replace(column, type=kind)
        typed.append(column)
        empty = sum(
            _is_missing(column, example.tabular.values[place]) for example in examples if example.tabular
        )
        details = ", ".join(filter(None, (why, f"{empty:,} of {len(examples):,} missing" if empty else "")))
        shown.append(f"{column.name}:{column.type}" + (f" ({details})" if details else ""))
    if not source.trained:
        source.notes.append(f"columns beside the text: {', '.join(shown)} - override with --features")
    return tuple(typed)


def _is_missing(column: TabularColumn, cell: object) -> bool:
    try:
        return column.value(str(cell)) is None
    except ValueError:
        return False


def with_values(
    examples: Sequence[AnyExample], columns: tuple[TabularColumn, ...], source: DataSource
) -> Iterator[AnyExample]:
    """The examples with the values of their cells; one with a cell of another type is reported."""
    for example in examples:
        cells = example.tabular.values if example.tabular else ()
        values, right = [], True
        for column, cell in zip(columns, cells, strict=True):
            try:
                values.append(column.value(str(cell)))
            except ValueError as error:
                right = False
                kind = "date" if column.type in ("date", "day-first", "month-first") else "number"
                source.report_error(
                    "HW145",
                    f"column {column.name!r}: {error}",
                    example.line,
                    expected=f"a {kind}, or an empty cell where it is missing",
                    advice=f"correct the cell, or read the column as categories: {column.name}:category in "
                    "--features of the training run",
                )
        if right:
            yield replace(example, tabular=TabularRow(columns, tuple(values)))


def row_of(values: Sequence[object], columns: tuple[TabularColumn, ...]) -> TabularRow:
    """The values of columns of known types from cells in memory.

    Raises:
        ConfigError: A cell is not of the type of its column.
    """
    row = []
    for column, value in zip(columns, values, strict=True):
        try:
            row.append(column.value(memory_cell_text(value)))
        except ValueError as error:
            raise ConfigError(f"column {column.name!r}: {error}", code="HW145") from None
    return TabularRow(columns, tuple(row))


def is_missing(value: object) -> bool:
    """Whether a cell in memory is None, NaN, or what pandas has in their place."""
    return value is None or type(value).__name__ == "NAType" or value != value


def memory_cell_text(value: object) -> str:
    """A cell in memory (a number, a date, a text, None) as it would stand in a file."""
    if is_missing(value):
        return ""
    if isinstance(value, str):
        return value
    return value.isoformat(" ") if isinstance(value, datetime) else str(value)  # dates are ISO 8601 too
