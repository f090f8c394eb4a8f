"""Columns of one name: one of them is read, or all where they hold label sets, as Jira exports them (a
column `Labels` for each label).

Code: HW112.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from headwise.data.columns.cell_values import as_text
from headwise.data.columns.column_names import LABEL_SET_NAMES, joined_column_names, name_rank
from headwise.data.columns.file_source import DataSource, Record
from headwise.data.columns.named_columns import names_in
from headwise.data.columns.text_columns import Columns
from headwise.data.errors import DataError


@dataclass(frozen=True)
class RepeatedLabelColumns(Columns):
    """The chosen columns, where several columns share the name of the label column."""

    repeated: tuple[str, ...] = ()
    """The columns of that name, which are numbered from the second on (`Labels`, `Labels_2`)."""

    @property
    def label_columns(self) -> tuple[str, ...]:
        return self.repeated


def with_repeated_columns(columns: Columns, sample: Sequence[Record], source: DataSource) -> Columns:
    """The columns with all that share the name of the label column, unless the user named one by its
    number."""
    names, duplicates = names_in(sample), source.layout.duplicates
    heading = duplicates.get(columns.label or "")
    repeated = tuple(name for name in names if heading and duplicates.get(name) == heading)
    by_number = (source.options.label_column or "").isdecimal()
    if by_number or len(repeated) < 2 or columns.label not in repeated:
        return columns
    source.notes.append(f"the labels of a text are those in the {len(repeated)} columns {heading!r}")
    return RepeatedLabelColumns(columns.text, columns.label, tabular=columns.tabular, repeated=repeated)


def repeated_cells(record: Record, columns: RepeatedLabelColumns) -> list[str]:
    """The labels of a record: the cells that are not empty."""
    cells = (as_text(record.fields.get(name)).strip() for name in columns.repeated)
    return [cell for cell in cells if cell]


def check_duplicate_names(
    chosen: object, sample: Sequence[Record], source: DataSource, *, labelled: bool
) -> None:
    """Check that no chosen column shares its name with another, unless the user named it by its number or
    all of them are read. Where labels are not needed, their column may share its name.

    Raises:
        DataError: HW112.
    """
    names = names_in(sample)
    read_together = chosen.label_columns if isinstance(chosen, RepeatedLabelColumns) else ()
    numbers = [int(part) for part in source.requested_columns if part.isdecimal() and len(part) < 10]
    by_number = {names[number - 1] for number in numbers if 0 < number <= len(names)}
    values = [value for field, value in vars(chosen).items() if labelled or field != "label"]
    used = {
        name
        for value in values
        for name in (value if isinstance(value, tuple | frozenset) else (value,))
        if isinstance(name, str)
    }
    parts = {part for name in used for part in (name, *joined_column_names(name))}
    for name in names:
        if name in parts - {*read_together} and name in source.layout.duplicates and name not in by_number:
            raise duplicate_name_error(source.layout.duplicates[name], names, source)


def duplicate_name_error(heading: str, names: Sequence[str], source: DataSource) -> DataError:
    """HW112: the error for two columns of one name, or for two fields of one name in an object of JSON."""
    duplicates, line = source.layout.duplicates, source.layout.header_line
    places = [number for number, name in enumerate(names, 1) if duplicates.get(name) == heading]
    if len(places) < 2:
        problem = f"an object with two values of {heading!r}"
        return source.error("HW112", problem, line, advice="rename one, or leave it out")
    advice = "rename one, or give the number of the column"
    if name_rank(heading, LABEL_SET_NAMES) is not None:
        advice += "; --task multi-label reads all of them as the labels of a text"
    return source.error(
        "HW112",
        f"{len(places)} columns named {heading!r} (columns {' and '.join(map(str, places[:8]))})",
        line,
        advice=advice,
    )
