"""The word limit of a training run: a few texts that are far longer than the others do not decide its time
and memory."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from headwise.core.config import JsonObject
from headwise.core.tokenizer import Tokenizer
from headwise.data.files.file_lists import place
from headwise.data.splits.data_parts import DataParts

LEAST_WORDS = 512
"""No automatic limit is lower."""
_USUAL = 0.98  # quantile of the lengths, which the longest 2 % of the texts do not change
_TIMES_USUAL = 16
_MOST_OF_ALL = 1 / 3  # fraction of all words that texts beyond the limit may hold together


def automatic_limit(lengths: Sequence[int] | np.ndarray, batch_words: int) -> int:
    """The word limit for texts of these lengths; 0 for no limit.

    There is one if a few texts are 16 times as long as 98 % of the others, and hold more than a third of
    all words, or more words than a batch.
    """
    lengths = np.asarray(lengths, dtype=np.int64)
    if not len(lengths):
        return 0
    usual = int(np.quantile(lengths, _USUAL, method="lower"))
    limit = max(LEAST_WORDS, _TIMES_USUAL * usual)
    beyond = lengths[lengths > limit]
    if beyond.sum() > _MOST_OF_ALL * lengths.sum():
        return limit
    limit = max(limit, batch_words)
    return limit if (lengths > limit).any() else 0


@dataclass(frozen=True)
class WordLimit:
    """A word limit, and the texts that are longer.

    Attributes:
        words: How many words of a text are used; 0 for all.
        places: The longer texts, `file:line`, the longest first.
        longest: The number of words of the longest text.
        tokenizer: Cuts texts into words; None without longer texts.
    """

    words: int = 0
    places: tuple[str, ...] = ()
    longest: int = 0
    tokenizer: Tokenizer | None = None

    @classmethod
    def of(cls, parts: DataParts, tokenizer: Tokenizer, words: int | None, batch_words: int) -> "WordLimit":
        """The limit for the data of a run.

        Args:
            words: The requested limit; 0 for none, None for the automatic one.
            batch_words: See `automatic_limit`.
        """
        item_type, named = parts.item_type, parts.named
        if words == 0 or not item_type.sides:
            return cls()
        items = [item for part in named.values() for item in part]
        # No text has more characters than so many short words: nothing has to be counted.
        if words is None and all(item_type.characters(item) <= LEAST_WORDS for item in items):
            return cls()
        sides = (len(side) for item in items for side in item_type.words(item, tokenizer.words))
        lengths = np.fromiter(sides, dtype=np.int64).reshape(-1, item_type.sides)
        if words is None:
            words = automatic_limit(lengths.ravel(), batch_words)
        longest = lengths.max(axis=1, initial=0)
        beyond = np.flatnonzero(longest > words) if words else np.zeros(0, dtype=np.int64)
        beyond = beyond[np.argsort(-longest[beyond], kind="stable")]
        if not len(beyond):
            return cls()
        ends = np.cumsum([len(part) for part in named.values()])
        part_of = np.searchsorted(ends, beyond, side="right").tolist()
        names = [*named]
        places = [
            _place(parts, names[part], items[number])
            for part, number in zip(part_of, beyond.tolist(), strict=True)
        ]
        return cls(words, tuple(places), int(longest.max()), tokenizer)

    def apply(self, parts: DataParts) -> DataParts:
        """The parts with longer texts cut."""
        item_type, tokenizer = parts.item_type, self.tokenizer
        if tokenizer is None:
            return parts

        def cut(item: Any) -> Any:
            longer = item_type.characters(item) > self.words  # no word has less than a character
            return item_type.first_words(item, self.words, tokenizer) if longer else item

        cut_parts: JsonObject = {name: list(map(cut, part)) for name, part in parts.named.items()}
        return replace(parts, **cut_parts)

    def message(self, nouns: str) -> str:
        """A warning that names the longest text and the settings; "" without longer texts."""
        if not self.places:
            return ""
        more = f" (and {len(self.places) - 1:,} more {nouns})" * (len(self.places) > 1)
        return (
            f"{self.places[0]}: {self.longest:,} words{more}; this run uses the first {self.words:,} words "
            "of a text, as longer ones would decide its time and memory. --windows.most-words 0 uses "
            f"all words, --windows.long truncate with --windows.words {self.words} also cuts the texts of "
            "predictions"
        )


NO_LIMIT = WordLimit()


def _place(parts: DataParts, name: str, item: Any) -> str:
    data = parts.files.get(name) or parts.files.get("train")
    path, line = getattr(data, "path", ""), getattr(item, "line", 0)
    return place(path, line) if path and line else f"a text of the {name} data"
