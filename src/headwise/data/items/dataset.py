"""A data file in memory.

The records of a file to predict, as a stream.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, Generic, Self, TypeVar

from headwise.data.doctor.findings import SHOWN, Finding, with_remainder

Item = TypeVar("Item")


@dataclass(frozen=True)
class Dataset(Generic[Item]):
    """The items of one file, and how they were read.

    Attributes:
        items: Texts, pairs, sentences or bags in the file's order; empty ones are among them.
        path: The file as the user named it; of aligned files the first.
        format: The name of its format.
        columns: The chosen columns, in the form that the item type uses.
        notes: What was guessed or left out, for the user, one sentence each.
        empty: How many items have a text that is empty or white space only.
        skipped: How many records were left out (trees with a neutral label, pairs without one).
        findings: Usable records that look like mistakes, for the doctor.
    """

    items: list[Item]
    path: str
    format: str
    columns: Any
    notes: tuple[str, ...] = ()
    empty: int = 0
    skipped: int = 0
    findings: tuple[Finding, ...] = ()

    @cached_property
    def labels(self) -> dict[str, int]:
        """How often each label (or tag) occurs, the most frequent first, then by name."""
        items: list[Any] = self.items
        counts = Counter(chain.from_iterable(item.labels for item in items))
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    def with_items(self, items: list[Item]) -> Self:
        """The same file with other items."""
        return replace(self, items=items)

    def where(self, item: int) -> str:
        """`path:line` of the item with this index."""
        example: Any = self.items[item]
        return f"{self.path}:{example.line}"

    def places(self, items: Sequence[int]) -> tuple[str, ...]:
        """`path:line` of the first few of these items, and how many more there are."""
        return with_remainder([self.where(item) for item in items[:SHOWN]], len(items))


@dataclass(frozen=True, slots=True)
class InputRow(Generic[Item]):
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
class InputRows(Generic[Item]):
    """The records of a file as a stream, which can be iterated once, with its format and columns.

    `notes` and `columns` are complete as soon as the object exists.
    """

    rows: Iterator[InputRow[Item]]
    path: str
    format: str
    columns: Any
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[InputRow[Item]]:
        return self.rows
