"""Two columns of one name, of which one is read.

Code: HW112.
"""

from collections.abc import Sequence

from headwise.data.columns.column_names import joined_column_names
from headwise.data.columns.file_source import DataSource, Record
from headwise.data.columns.text_columns import names_in
from headwise.data.errors import DataError


def check_duplicate_names(chosen: object, sample: Sequence[Record], source: DataSource) -> None:
    """Check that no chosen column shares its name with another, unless the user named it by its number.

    Raises:
        DataError: HW112.
    """
    names = names_in(sample)
    numbers = [int(part) for part in source.requested_columns if part.isdecimal() and len(part) < 10]
    by_number = {names[number - 1] for number in numbers if 0 < number <= len(names)}
    values = vars(chosen).values()
    used = {
        name
        for value in values
        for name in (value if isinstance(value, tuple | frozenset) else (value,))
        if isinstance(name, str)
    }
    parts = {part for name in used for part in (name, *joined_column_names(name))}
    for name in names:
        if name in parts and name in source.layout.duplicates and name not in by_number:
            raise duplicate_name_error(source.layout.duplicates[name], names, source)


def duplicate_name_error(heading: str, names: Sequence[str], source: DataSource) -> DataError:
    """HW112: the error for two columns of one name, or for two fields of one name in an object of JSON."""
    duplicates, line = source.layout.duplicates, source.layout.header_line
    places = [number for number, name in enumerate(names, 1) if duplicates.get(name) == heading]
    if len(places) < 2:
        problem = f"an object with two values of {heading!r}"
        return source.error("HW112", problem, line, advice="rename one, or leave it out")
    return source.error(
        "HW112",
        f"two columns named {heading!r} (columns {' and '.join(map(str, places[:8]))})",
        line,
        advice="rename one, or give the number of the column",
    )
