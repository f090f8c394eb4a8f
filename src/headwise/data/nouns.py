"""Display names of the items of a file, for messages."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Nouns:
    """How messages name items.

    Attributes:
        one: Singular.
        many: Plural.
        length: The unit of an item's length.
        numbers: The task that learns numbers instead of classes for such items, for advice; or "".
    """

    one: str = "text"
    many: str = "texts"
    length: str = "words"
    numbers: str = ""

    def count(self, number: int) -> str:
        """`1 pair`, `2,000 pairs`."""
        return f"{number:,} {self.one if number == 1 else self.many}"


TEXTS = Nouns(numbers="the task regress (in Python TextRegressor)")
