"""Bags of instances (multiple-instance learning): their item type, and how files of them are recognised."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import ClassVar

from headwise.data.columns.column_names import normal_name
from headwise.data.columns.file_source import DataSource, FileHead
from headwise.data.columns.item_options import DEFAULT_BAG_OPTIONS, BagOptions
from headwise.data.columns.reading_options import ReadOptions
from headwise.data.errors import OnError, raise_error
from headwise.data.formats.csv import read_cells
from headwise.data.items.dataset import InputRow, InputRows
from headwise.data.items.examples import DisplayNames
from headwise.data.items.item_type import ItemType
from headwise.data.readers.bags import (
    BAG_LABEL_NAMES,
    BAG_NAMES,
    Bag,
    BagData,
    cell_number,
    instances_digest,
    is_uci,
    read_bags,
)


class BagItems(ItemType[Bag]):
    """Bags of feature vectors, with one label per bag."""

    nouns: ClassVar[DisplayNames] = DisplayNames("bag", "bags", "instances")
    options = BagOptions
    columns_heading: ClassVar[str] = "features in columns"

    def read(self, path: str, options=None, on_error: OnError = raise_error, *, schema=None) -> BagData:
        return read_bags(path, options or DEFAULT_BAG_OPTIONS, on_error, features=schema)

    def rows(self, path: str, options=None, *, schema=None) -> InputRows[Bag]:
        """The bags of a file, read into memory at once, as the instances of a bag may be anywhere in it."""
        data = read_bags(path, options or DEFAULT_BAG_OPTIONS, features=schema, labelled=False)
        rows = (
            InputRow(bag.line, {"bag": bag.id, "instances": len(bag.instances)}, bag) for bag in data.items
        )
        return InputRows(rows, data.path, data.format, data.features, data.notes)

    def schema(self, data):
        return data.features

    def key(self, item: Bag) -> str:
        return instances_digest(item)

    def fields(self, item: Bag) -> Iterable[str | None]:
        return item.id, item.label, instances_digest(item)

    def size(self, item: Bag) -> int:
        return len(item.instances)

    def columns_of(self, data) -> tuple[str, str | None]:
        return f"{data.features[0]} to {data.features[-1]}", None

    def text(self, item: Bag) -> str:
        return ""

    def show(self, item: Bag) -> str:
        return item.id

    def implied_by(self, reading: Mapping[str, object]) -> str | None:
        if "bag_column" in reading:
            return "a column of bags is named"
        return "the format uci is one of bags" if reading.get("format") == "uci" else None

    def recognise(self, head: FileHead, reading: Mapping[str, object]) -> str | None:
        if reading.get("format") not in (None, "csv") or "text_column" in reading:
            return None
        delimiter = reading.get("delimiter")
        return looks_like_bags(head.texts, delimiter if isinstance(delimiter, str) else None)


_LOOKED_AT = 100  # rows
_FEWEST = 3  # features of a file whose columns have no names


def looks_like_bags(lines: Sequence[str], delimiter: str | None = None) -> str | None:
    """Why lines look like a file of labelled bags, as text for the user; None if they do not.

    In such a file no column is text: all columns but those of bags and labels are numbers.
    """
    if lines and lines[0].lstrip().startswith("{"):  # JSON: to guess a delimiter of long lines takes long
        return None
    source = DataSource("", ReadOptions(delimiter=delimiter), lambda _: None)
    rows = [cells for _, cells in islice(read_cells(iter(list(enumerate(lines, 1))), source), _LOOKED_AT)]
    if len(rows) < 2 or len({len(row) for row in rows}) > 1 or len(rows[0]) < 3:
        return None
    if all(map(is_uci, rows)):
        return "its rows are those of UCI's Musk data"
    names = [normal_name(name) for name in rows[0]]
    bag, label = (
        next((names.index(name) for name in usual_names if name in names), None)
        for usual_names in (BAG_NAMES, BAG_LABEL_NAMES)
    )
    if bag is not None and label is not None:
        rest = [place for place in range(len(names)) if place not in (bag, label)]
        # Some values may be missing; reading the file reports these.
        number_counts = [sum(_is_number(row[place]) for row in rows[1:]) for place in rest]
        numbers = 2 * min(number_counts) > len(rows) - 1
        return f"it has the column {rows[0][bag]!r}, and else numbers" if numbers else None
    if len(names) < 2 + _FEWEST or not all(_is_number(cell) for row in rows for cell in row[2:]):
        return None
    # Rows of one bag follow each other, with one label.
    pairs = [(row[0], row[1]) for row in rows]
    return "all its columns but two are numbers" if len(set(pairs)) < len(pairs) else None


def _is_number(cell: str) -> bool:
    return cell_number(cell) is not None
