"""The records of a file to predict, as a stream."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Row(Generic[Item]):
    """One record of a file to predict.

    Attributes:
        line: The line of the file, from 1, on which the record starts.
        fields: All fields in the file's order: strings, or JSON values in a jsonl file.
        item: The item that the model reads, with its label if the record has one.
    """

    line: int
    fields: dict[str, object]
    item: Item


@dataclass(frozen=True)
class Rows(Generic[Item]):
    """The records of a file as a stream, which can be iterated once, with its format and columns.

    `notes` and `columns` are complete as soon as the object exists.
    """

    rows: Iterator[Row[Item]]
    path: str
    format: str
    columns: Any
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Row[Item]]:
        return self.rows
