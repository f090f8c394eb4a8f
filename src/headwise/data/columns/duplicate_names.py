"""Two columns of one name, of which one is read. (Label sets may stand in several; these are all read.)

Code: HW112.
"""

from collections.abc import Sequence

from headwise.data.columns.column_names import joined_column_names, name_rank
from headwise.data.columns.file_source import DataSource, Record
from headwise.data.columns.multi_label_columns import LABEL_SET_NAMES
from headwise.data.columns.named_columns import names_in
from headwise.data.columns.repeated_label_columns import RepeatedLabelColumns
from headwise.data.errors import DataError


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
