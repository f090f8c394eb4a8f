"""Drop training items, or change their weights, by a list of lines such as `headwise noise` writes."""

import os
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from headwise.core.errors import ConfigError
from headwise.data.columns.file_source import DataSource
from headwise.data.columns.soft_label_columns import number_or_nan
from headwise.data.errors import DataError
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
        listed: A csv or xlsx file with a column `line`, perhaps the `label` that is thought to be wrong,
            and, of several training files, a column `file`.

    Raises:
        ConfigError: The items have no line numbers.
        DataError: HW111, there is no such column; HW127, the list is of another file.
    """
    if not parts.item_type.has_keys:
        raise ConfigError("--drop is for items on lines of their own, which a running text does not have")
    places = {_place(item) for item, _, _ in _listed_items(parts, listed)}
    remaining = [item for item in parts.train if _place(item) not in places]
    dev = parts.dev if "dev" in parts.files else [item for item in parts.dev if _place(item) not in places]
    dropped = len(parts.train) + len(parts.dev) - len(remaining) - len(dev)
    return replace(parts, train=remaining, dev=dev, labels=()), dropped


def reweight_listed_items(parts: DataParts, listed: str) -> tuple[DataParts, int]:
    """The parts with the weights that a list gives to training items, and how many items it names.

    Items of the test part keep their weights.

    Args:
        parts: The parts, read from files, of items with a `weight`.
        listed: As for `drop_listed_items`, with a column of `WEIGHTS`.

    Raises:
        DataError: HW111 and HW127 as for `drop_listed_items`; HW126, a weight is not a number of 0 or more.
    """
    weights = dict[Place, float]()
    for item, row, line in _listed_items(parts, listed):
        name = next((name for name in WEIGHTS if name in row), None)
        if name is None:
            raise DataError("HW111", f"no column {WEIGHTS[0]!r} or {WEIGHTS[1]!r}", path=listed)
        weights[_place(item)] = weight = number_or_nan(row[name])
        if not 0 <= weight < float("inf"):
            problem = f"the weight is {row[name][:40]!r}"
            raise DataError("HW126", problem, expected="a number, 0 or more", path=listed, line=line)

    def weighed(items: Sequence[Example]) -> list[Example]:
        return [
            item if (weight := weights.get(_place(item))) is None else replace(item, weight=weight)
            for item in items
        ]

    parts = replace(
        parts, train=weighed(parts.train), dev=parts.dev if "dev" in parts.files else weighed(parts.dev)
    )
    affected = parts.train if "dev" in parts.files else [*parts.train, *parts.dev]
    return parts, sum(_place(item) in weights for item in affected)


Place = tuple[str, int]
"""The file of an item ("" if there is one training file), and its line."""


def _place(item: Example) -> Place:
    return getattr(item.line, "file", ""), int(item.line)


def _listed_items(parts: DataParts, listed: str) -> Iterator[tuple[Example, dict[str, str], int]]:
    """The training items that a list names, each with its row of the list and the line of that row.

    Where there are several training files, the column `file` of the list names that of each line, by its
    path or, if no other file has it, by its name without folders.
    """
    data = parts.files["train"]
    items = {_place(item): item for item in data.items}
    files = _file_names({file for file, _ in items})
    sets = parts.item_type.label_type.multi_label
    separator = writable_separator(data) if sets else None
    source = DataSource(listed)
    rows = read_cells(source.open(), source)
    names = [name.strip() for name in next(rows, (0, []))[1]]
    if "line" not in names:
        raise source.error("HW111", "no column 'line'", expected="a list of headwise noise")
    if files and "file" not in names:
        problem = "no column 'file', and there are several training files"
        advice = "make a list of each file with headwise noise, and put the lists together"
        raise source.error("HW111", problem, expected="the file of each line", advice=advice)
    for line, cells in rows:
        row = dict(zip(names, cells, strict=False))
        if [*row] == [*row.values()]:
            continue  # the header of the next list
        number, label, file = row.get("line", "").strip(), row.get("label"), row.get("file", "").strip()
        at = int(number) if number.isdecimal() and len(number) < 12 else 0
        item = items.get((files.get(file, file) if files else "", at))
        labels = () if item is None else item.labels
        if item is not None and separator is not None:
            labels = (separator.join(labels),)
        if item is None or (label is not None and label not in labels):
            what = f"line {number[:40]}" + (f" with the label {label!r}" if label else "")
            problem = (
                f"no training file {file[:80]!r} has {what}"
                if files
                else f"the training file has no {what}"
            )
            advice = "make the list of these very files" if files else "make the list of this very file"
            advice += "; rows that --split.repeated-texts leaves out cannot be listed"
            raise source.error("HW127", problem, line, advice=advice)
        yield item, row, line


def _file_names(paths: Collection[str]) -> dict[str, str]:
    """The path of each of several files by its name without folders, if no other file has it."""
    names = Counter(map(os.path.basename, paths))
    return {name: path for path in paths if path and names[name := os.path.basename(path)] == 1}
