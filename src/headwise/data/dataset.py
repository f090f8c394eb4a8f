"""A data file in memory."""

from dataclasses import dataclass, replace
from typing import Any, Self

from headwise.data.columns import Columns
from headwise.data.diagnosis import Finding
from headwise.data.example import Example


@dataclass(frozen=True)
class Dataset:
    """The examples of one file, and how they were read.

    Attributes:
        examples: The examples in the file's order; empty texts are among them.
        path: The file as the user named it.
        format: The name of its format.
        columns: The columns of text and label.
        notes: What was guessed or left out, for the user, one sentence each.
        empty: How many texts are empty or white space only.
        skipped: How many records were left out (trees with a neutral label).
    """

    examples: list[Example]
    path: str
    format: str
    columns: Columns
    notes: tuple[str, ...] = ()
    empty: int = 0
    skipped: int = 0

    findings: tuple[Finding, ...] = ()

    @property
    def items(self) -> list[Example]:
        """The examples."""
        return self.examples

    def with_items(self, items: list[Any]) -> Self:
        """The same file with other items."""
        return replace(self, examples=items)

    @property
    def labels(self) -> dict[str, int]:
        """How many examples each label has, the most frequent first, then by name."""
        counts: dict[str, int] = {}
        for example in self.examples:
            if example.label is not None:
                counts[example.label] = counts.get(example.label, 0) + 1
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
