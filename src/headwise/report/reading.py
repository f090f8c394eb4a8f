"""What a model could read of items: unknown words, empty texts, texts that were cut short."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Reading:
    """What a model could read of items.

    Attributes:
        unknown_words: Share of all words that the vocabulary does not know.
        empty_texts: Items with a text without a single word.
        cut_texts: Items that are longer than the model reads (only with `--windows.long truncate`).
    """

    unknown_words: float
    empty_texts: int
    cut_texts: int


def reading_of(encoded: Sequence[Any]) -> Reading | None:
    """What a model reads of encoded items; None where these have no words."""
    if not all(hasattr(item, "unknown") for item in encoded):
        return None
    return Reading(
        unknown_words=sum(item.unknown for item in encoded) / max(sum(map(len, encoded)), 1),
        empty_texts=sum(item.empty for item in encoded),
        cut_texts=sum(item.cut > 0 for item in encoded),
    )
