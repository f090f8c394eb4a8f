"""Vocabulary coverage of a data set: unknown words, empty texts, truncated texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Reading:
    """Vocabulary coverage of a data set.

    Attributes:
        unknown_words: Fraction of all words that are not in the vocabulary.
        empty_texts: Number of items with a text without words.
        cut_texts: Number of truncated items (only with `--windows.long truncate`).
    """

    unknown_words: float
    empty_texts: int
    cut_texts: int


def reading_of(encoded: Sequence[Any]) -> Reading | None:
    """The vocabulary coverage of encoded items; None where items have no words."""
    if not all(hasattr(item, "unknown") for item in encoded):
        return None
    return Reading(
        unknown_words=sum(item.unknown for item in encoded) / max(sum(map(len, encoded)), 1),
        empty_texts=sum(item.empty for item in encoded),
        cut_texts=sum(item.cut > 0 for item in encoded),
    )
