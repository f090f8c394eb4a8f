"""When two texts count as the same."""

from collections.abc import Sequence

from headwise.data.example import Example


def normal_text(text: str) -> str:
    """A text for comparison: case folded, every run of white space one blank, none at the ends."""
    return " ".join(text.casefold().split())


def same_texts(examples: Sequence[Example]) -> dict[str, list[int]]:
    """The indices of the examples of every distinct text, in the order of first occurrence."""
    groups: dict[str, list[int]] = {}
    for index, example in enumerate(examples):
        groups.setdefault(normal_text(example.text), []).append(index)
    return groups
