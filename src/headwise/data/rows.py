"""The records of a file to predict, as a stream."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Row(Generic[Item]):
    """One record of a file to predict.

    Attributes:
        line: The line of the file, from 1, on which it starts.
        fields: All its fields in the file's order: strings, or what JSON holds in a jsonl file.
        item: What a model reads of it; with the label, if the file has labels and this record one.
    """

    line: int
    fields: dict[str, object]
    item: Item


@dataclass(frozen=True)
class Rows(Generic[Item]):
    """The records of a file as a stream, to be iterated once, and how they are read.

    `notes` and `columns` are complete as soon as the object exists.
    """

    rows: Iterator[Row[Item]]
    path: str
    format: str
    columns: Any
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Row[Item]]:
        return self.rows
