"""The columns of a table by their names: those that the user names are looked up.

Codes: HW111 there is no such column; HW147 a file lacks a column that the model was trained on.
"""

from collections.abc import Sequence

from headwise.core.errors import ConfigError, close_names
from headwise.data.columns.cell_values import as_text
from headwise.data.columns.column_contents import Column
from headwise.data.columns.column_names import COLUMN_JOINER, normal_name
from headwise.data.columns.file_source import DataSource, Record
from headwise.data.errors import DataError

MOST_SHOWN = 10  # columns in a message


def check_distinct_columns(**columns: object) -> None:
    """Check that no two options name the same column.

    Args:
        columns: The column that each option names, by the option's name; None if the option is not given.

    Raises:
        ConfigError: Two options name the same column.
    """
    option_of: dict[object, str] = {}
    for option, column in columns.items():
        if column is not None and (first_option := option_of.setdefault(column, option)) != option:
            flags = (f"--{name.replace('_', '-')}" for name in (first_option, option))
            raise ConfigError(f"{' and '.join(flags)} name the same column; each needs its own")


def find_column(requested: str, names: Sequence[str], source: DataSource, flag: str) -> int:
    """The index of a column given by its name (spacing and case aside) or by its number from 1.

    Raises:
        DataError: HW111.
    """
    if requested in names:
        return list(names).index(requested)
    normal = [normal_name(name) for name in names]
    if normal.count(normal_name(requested)) == 1:
        return normal.index(normal_name(requested))
    if requested.isdecimal() and len(requested) < 10 and 1 <= int(requested) <= len(names):
        return int(requested) - 1
    close = close_names(requested, names)
    advice = f"did you mean {flag} {close[0]!r}?" if close else f"give another {flag}"
    if len(parts := [normal_name(part) for part in requested.split(",")]) > 1 and {*parts} <= {*normal}:
        advice = f"{flag} names one column"
        if flag == "--text-column":
            together = COLUMN_JOINER.join(part.strip() for part in requested.split(","))
            advice = f"give {flag} {together!r} to read several as one text"
    problem = f"there is no column {requested!r}"
    expected = f"one of {_list_names(names)}, or a number from 1 to {len(names)}"
    raise DataError("HW111", problem, expected=expected, advice=advice, path=source.path)


def tabular_names(sample: Sequence[Record], source: DataSource) -> list[str]:
    """The names of the requested columns beside the text, as the file spells them.

    Raises:
        DataError: HW111, there is no such column; HW147, the file lacks one that the model was trained on.
    """
    names, spelt = names_in(sample), list[str]()
    for column in source.options.tabular_columns:
        try:
            spelt.append(names[find_column(column.name, names, source, "--features")])
        except DataError as error:
            if not source.trained:
                raise
            needed = ", ".join(repr(column.name) for column in source.options.tabular_columns)
            problem = f"there is no column {column.name!r}, which the model was trained on beside the text"
            expected = f"the column{'s' * (',' in needed)} {needed}"
            advice = "add it; its cells may be empty where a value is not known"
            raise DataError("HW147", problem, expected=expected, advice=advice, path=source.path) from error
    return spelt


def _list_names(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    shown = ", ".join(shortened(name) for name in names[:MOST_SHOWN])
    rest = len(names) - MOST_SHOWN
    return f"{shown} and {rest:,} more" if rest > 0 else shown


def names_in(sample: Sequence[Record]) -> list[str]:
    """The names of the columns of the sample, in their order."""
    return list(dict.fromkeys(name for record in sample for name in record.fields))


def columns_of(sample: Sequence[Record]) -> list[Column]:
    """The columns of the sample, in their order."""
    columns = []
    for name in names_in(sample):
        values = [record.fields.get(name) for record in sample]
        strings = any(isinstance(value, str) for value in values)
        columns.append(Column(name, [as_text(value) for value in values], strings))
    return columns


def shortened(value: str) -> str:
    """A value as it stands in a message, with at most 40 characters."""
    value = " ".join(value.split())
    return repr(value if len(value) <= 40 else value[:39] + "…")
