"""A file that the doctor looks at."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from headwise.data.diagnosis import Finding
from headwise.data.duplicates import normal_text, places_of
from headwise.data.overlap import Seen


@dataclass(frozen=True)
class File:
    """A file that has been read, with its role.

    Attributes:
        role: "train", "dev" or "test"; more files of a role are "train 2" and so on.
        data: As `headwise.data.kind.Kind.examine` returns it.
        kind: The `headwise.data.kind.Kind` of its items.
    """

    role: str
    data: Any
    kind: Any

    @property
    def items(self) -> Any:
        """The items."""
        return self.data.items

    @property
    def training(self) -> bool:
        """Whether it is training data."""
        return self.role.startswith("train")

    @property
    def part(self) -> str:
        """The role without its number."""
        return self.role.split()[0]

    def count(self, number: int, before: str = "", after: str = "") -> str:
        """`1 empty text`, `2,000 empty texts`."""
        nouns = self.kind.nouns
        words = (f"{number:,}", before, nouns.one if number == 1 else nouns.many, after)
        return " ".join(filter(None, words))

    @cached_property
    def sizes(self) -> list[int]:
        """The length of each item, in words or instances."""
        return [self.kind.size(item) for item in self.items]

    @cached_property
    def texts(self) -> list[str]:
        """The whole text of each item."""
        return [self.kind.text(item) for item in self.items]

    @cached_property
    def keys(self) -> list[str]:
        """The comparison key of each item, equal for duplicates."""
        return [normal_text(self.kind.key(item)) for item in self.items]

    @cached_property
    def seen(self) -> Seen:
        """Finds items of other files that are here too, or nearly."""
        return Seen(self.kind, self.same)

    @cached_property
    def same(self) -> dict[str, list[int]]:
        """The indices of the items of each distinct key, in the order of first occurrence."""
        return places_of(self.keys)

    @cached_property
    def repeated(self) -> list[list[int]]:
        """The indices of each group of duplicates that are not empty."""
        return [numbers for key, numbers in self.same.items() if len(numbers) > 1 and key]


Check = Callable[[File], Iterator[Finding]]
"""A check of one file."""

BetweenCheck = Callable[[Mapping[str, File]], Iterator[Finding]]
"""A check across files, by their roles."""


def pairs_of(files: Mapping[str, File]) -> Iterator[tuple[File, File]]:
    """All pairs of files, in their order."""
    ordered = list(files.values())
    for place, first in enumerate(ordered):
        for second in ordered[place + 1 :]:
            yield first, second
