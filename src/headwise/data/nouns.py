"""What the items of a file are called."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Nouns:
    """How messages name items, what the length of one counts, and what gives them numbers, if something
    does."""

    one: str = "text"
    many: str = "texts"
    length: str = "words"
    numbers: str = ""

    def count(self, number: int) -> str:
        """`1 pair`, `2,000 pairs`."""
        return f"{number:,} {self.one if number == 1 else self.many}"


TEXTS = Nouns(numbers="the task regress (in Python TextRegressor)")
