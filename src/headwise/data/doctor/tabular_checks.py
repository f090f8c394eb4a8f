"""The doctor's checks of the columns beside the text: constants, ids, and those that decide the label."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from headwise.data.columns.tabular_columns import DATES, CellValue, TabularColumn
from headwise.data.doctor.examined_file import CheckedFile
from headwise.data.findings import Finding
from headwise.data.items.numeric_labels import parse_number

_LEAST = 20  # least number of rows that say something of a column
_DECIDES = 0.99  # least share of rows whose label a value, or an interval of numbers, decides
_DIFFERENT = 0.9  # least share of different values of a column of ids
_INTERVALS = 4  # most intervals per label that may decide the labels of numbers


def tabular_columns_check(file: CheckedFile) -> Iterator[Finding]:
    """Columns beside the text that are constant, that nearly decide the label, or that name each row."""
    items = [item for item in file.items if item.tabular is not None]
    if not file.training or len(items) < _LEAST:
        return
    numeric = file.item_type.label_type.numeric
    labels = ["|".join(sorted(item.labels)) for item in items]
    for place, column in enumerate(items[0].tabular.columns):
        values = [item.tabular.values[place] for item in items]
        where = (file.data.path,)
        name, distinct = f"the column {column.name!r}", len(set(values))
        if distinct < 2:
            shown = column.shown(values[0])
            yield Finding(
                "warning", "HW181", f"{name} is {shown} in all rows", where, "leave it out of --features"
            )
        elif numeric and _equals(values, labels):
            yield _leak(name, "is the number to predict, in all rows", where)
        elif not numeric and (share := _decided(column, values, labels)) >= _DECIDES:
            yield _leak(name, f"decides the label of {100 * share:.1f} % of the rows", where)
        elif column.type == "category" and distinct >= _DIFFERENT * len(values):
            message = f"{name} has {distinct:,} different categories in {len(values):,} rows"
            fix = "if it names each row, leave it out of --features: a model learns nothing from it"
            yield Finding("warning", "HW183", message, where, fix)


def _leak(name: str, problem: str, where: tuple[str, ...]) -> Finding:
    fix = (
        "if it is not known before the label is, leave it out of --features; else a model learns it and "
        "little more"
    )
    return Finding("warning", "HW182", f"{name} {problem}", where, fix)


def _equals(values: Sequence[CellValue], labels: Sequence[str]) -> bool:
    numbers = [parse_number(label) for label in labels]
    return all(
        isinstance(value, float)
        and number is not None
        and abs(value - number) <= 1e-9 * max(1, abs(number))
        for value, number in zip(values, numbers, strict=True)
    )


def _decided(column: TabularColumn, values: Sequence[CellValue], labels: Sequence[str]) -> float:
    """The share of the rows that have the usual label of their value; of numbers, of their interval. Values
    of a single row say nothing, and the share of the most frequent label is no evidence."""
    most = Counter(labels).most_common(1)[0][1]
    if len(set(labels)) < 2 or most >= _DECIDES * len(labels):
        return 0.0
    if column.type == "category":
        return _decided_by_groups(values, labels)
    filled = sorted(
        (value, label) for value, label in zip(values, labels, strict=True) if isinstance(value, float)
    )
    few = len({value for value, _ in filled}) <= len(filled) // 10
    if few:
        return _decided_by_groups(values, labels)
    changes = sum(first[1] != second[1] for first, second in pairwise(filled))
    if column.type in DATES or changes >= _INTERVALS * len(set(labels)):
        return 0.0
    return len(filled) / len(values)


def _decided_by_groups(values: Sequence[CellValue], labels: Sequence[str]) -> float:
    groups: dict[CellValue, Counter[str]] = {}
    for value, label in zip(values, labels, strict=True):
        groups.setdefault(value, Counter())[label] += 1
    right = sum(max(counts.values()) for counts in groups.values() if counts.total() > 1)
    return right / len(values)
