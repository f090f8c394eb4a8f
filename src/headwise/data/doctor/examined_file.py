"""A file that the doctor looks at."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from headwise.data.splits.contamination import ComparedKeys
from headwise.data.splits.duplicates import indices_by_key
from headwise.data.splits.text_signatures import normal_text, repeated_places, text_digests


@dataclass(frozen=True)
class CheckedFile:
    """A file that has been read, with its role.

    Attributes:
        role: "train", "dev" or "test"; more files of a role are "train 2" and so on.
        data: As `headwise.data.items.item_type.ItemType.examine` returns it.
        item_type: The `headwise.data.items.item_type.ItemType` of its items.
    """

    role: str
    data: Any
    item_type: Any

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
        nouns = self.item_type.nouns
        words = (f"{number:,}", before, nouns.one if number == 1 else nouns.many, after)
        return " ".join(filter(None, words))

    def with_labels(self, labels: Collection[str]) -> list[int]:
        """The indices of the items that have one of these labels."""
        names = set(labels)
        return [n for n, item in enumerate(self.items) if not names.isdisjoint(item.labels)]

    @cached_property
    def sizes(self) -> list[int]:
        """The length of each item, in words or instances."""
        return [self.item_type.size(item) for item in self.items]

    @cached_property
    def texts(self) -> list[str]:
        """The whole text of each item."""
        return [self.item_type.text(item) for item in self.items]

    @cached_property
    def keys(self) -> list[str]:
        """The comparison key of each item, equal for duplicates."""
        return [normal_text(self.item_type.key(item)) for item in self.items]

    @cached_property
    def compared(self) -> ComparedKeys:
        """The keys, for comparison with those of other files."""
        return ComparedKeys.of(lambda: self.keys, self.item_type.sides)

    @cached_property
    def same(self) -> dict[str, list[int]]:
        """The indices of the items of each distinct key, in the order of first occurrence."""
        return indices_by_key(self.keys)

    @cached_property
    def duplicate_groups(self) -> list[list[int]]:
        """The indices of each group of duplicates that are not empty."""
        return repeated_places(text_digests(normal_text(self.item_type.key(item)) for item in self.items))
