"""Drop training items, or change their weights, by a list of lines such as `headwise noise` writes."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from headwise.core.errors import ConfigError
from headwise.data.errors import DataError
from headwise.data.files.file_lists import FileLine
from headwise.data.files.file_source import DataSource
from headwise.data.formats.csv import read_cells
from headwise.data.items.examples import Example, writable_separator
from headwise.data.splits.data_parts import DataParts

WEIGHTS = ("weight", "probability of label")
"""Columns of a list that may hold the weight of an item; the first that is there is used."""


def drop_listed_items(parts: DataParts, listed: str) -> tuple[DataParts, int]:
    """The parts without the training items that a list names, and how many were dropped.

    Items of the test part stay, whatever the list says: dropping hard items must not improve test scores.

    Args:
        parts: The parts, read from files.
        listed: A csv file with a column `line`, and perhaps the `label` that is thought to be wrong.

    Raises:
        ConfigError: The items have no line numbers.
        DataError: HW111, there is no such column; HW127, the list is of another file.
    """
    if not parts.kind.has_keys:
        raise ConfigError("--drop is for items on lines of their own, which a running text does not have")
    lines = {item.line for item, _, _ in _rows(parts, listed)}
    remaining = [item for item in parts.train if item.line not in lines]
    dev = parts.dev if "dev" in parts.files else [item for item in parts.dev if item.line not in lines]
    dropped = len(parts.train) + len(parts.dev) - len(remaining) - len(dev)
    return replace(parts, train=remaining, dev=dev), dropped


def reweight_listed_items(parts: DataParts, listed: str) -> tuple[DataParts, int]:
    """The parts with the weights that a list gives to training items, and how many items it names.

    Items of the test part keep their weights.

    Args:
        parts: The parts, read from files, of items with a `weight`.
        listed: As for `drop_listed_items`, with a column of `WEIGHTS`.

    Raises:
        DataError: HW111 and HW127 as for `drop_listed_items`; HW126, a weight is not a number of 0 or more.
    """
    weights = dict[int, float]()
    for item, row, line in _rows(parts, listed):
        name = next((name for name in WEIGHTS if name in row), None)
        if name is None:
            raise DataError("HW111", f"no column {WEIGHTS[0]!r} or {WEIGHTS[1]!r}", path=listed)
        try:
            weights[item.line] = weight = float(row[name])
        except ValueError:
            weight = -1.0
        if not 0 <= weight < float("inf"):
            problem = f"the weight is {row[name][:40]!r}"
            raise DataError("HW126", problem, expected="a number, 0 or more", path=listed, line=line)

    def weighed(items: Sequence[Example]) -> list[Example]:
        return [
            replace(item, weight=weights[item.line]) if item.line in weights else item for item in items
        ]

    parts = replace(
        parts,
        train=weighed(parts.train),
        dev=parts.dev if "dev" in parts.files else weighed(parts.dev),
    )
    affected = parts.train if "dev" in parts.files else [*parts.train, *parts.dev]
    return parts, sum(item.line in weights for item in affected)


def _rows(parts: DataParts, listed: str) -> Iterator[tuple[Example, dict[str, str], int]]:
    """The training items that a list names, each with its row of the list and the line of that row."""
    data = parts.files["train"]
    if data.items and isinstance(data.items[0].line, FileLine):
        raise ConfigError(f"{listed}: a list of lines is of one training file, and there are several")
    items = {item.line: item for item in data.items}
    sets = parts.kind.answer.multi_label
    separator = writable_separator(data) if sets else None
    source = DataSource(listed)
    rows = read_cells(source.open(), source)
    names = [name.strip() for name in next(rows, (0, []))[1]]
    if "line" not in names:
        raise source.error("HW111", "no column 'line'", expected="a list of headwise noise")
    for line, cells in rows:
        row = dict(zip(names, cells, strict=False))
        number, label = row.get("line", "").strip(), row.get("label")
        item = items.get(int(number)) if number.isdecimal() and len(number) < 12 else None
        labels = () if item is None else item.labels
        if item is not None and separator is not None:
            labels = (separator.join(labels),)
        if item is None or (label is not None and label not in labels):
            what = f"line {number[:40]}" + (f" with the label {label!r}" if label else "")
            advice = "make the list of this very file"
            raise source.error("HW127", f"the training file has no {what}", line, advice=advice)
        yield item, row, line
