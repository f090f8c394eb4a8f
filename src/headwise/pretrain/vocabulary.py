"""Choice of the words that a base lists."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from headwise.features.tokenize import get_tokenizer, plain_spelling

MOST_TYPES = 1 << 22
"""Maximum number of distinct words in the counts; beyond it, the rarest are dropped."""


def plain(word: str) -> str:
    """The spelling under which a base lists a word."""
    return plain_spelling(word.lower())


class Counts:
    """Word counts in bounded memory."""

    def __init__(self, most: int = MOST_TYPES):
        self.counts: Counter[str] = Counter()
        self._most, self._below = most, 1
        self._plain: dict[str, str] = {}

    def add(self, words: Sequence[str]) -> None:
        """Count words; their spelling is normalised."""
        spellings = self._plain
        for word in words:
            spelling = spellings.get(word)
            if spelling is None:
                spelling = plain(word)
                if len(spellings) < self._most:
                    spellings[word] = spelling
            self.counts[spelling] += 1
        if len(self.counts) > self._most:
            self._below += 1
            self.counts = Counter({w: n for w, n in self.counts.items() if n >= self._below})


def choose_words(
    counts: Mapping[str, int], most: int, *, rarest: int = 1, listed: Sequence[str] = ()
) -> list[str]:
    """The words that a base lists, the most important first.

    Words are sorted by the geometric mean of two ranks, that of their count and that in an external word
    list (if given), but at most three times the better rank. Numbers and punctuation are ranked lower, as
    few of them are informative.

    Args:
        counts: Counts of words in their plain spelling.
        most: Number of words to choose.
        rarest: Minimum count of a word that is not in the list.
        listed: An external word list, by falling frequency.
    """
    by_count = sorted(counts, key=lambda word: (-counts[word], word))
    ranks = {word: rank for rank, word in enumerate(by_count) if counts[word] >= rarest}
    list_ranks: dict[str, int] = {}
    cut = get_tokenizer("penn").words
    for word in listed:
        if len(cut(word)) == 1:
            list_ranks.setdefault(plain(word), len(list_ranks))
    missing, missing_other = 2 * len(ranks) + 1, 3 * len(list_ranks) // 2 + 1

    def place(word: str) -> tuple[float, str]:
        count_rank, list_rank = ranks.get(word, missing), list_ranks.get(word, missing_other)
        if not any(letter.isalpha() for letter in word):
            return (1.3 if count_rank < 4000 else 3) * count_rank, word
        if not list_ranks:
            return count_rank, word
        return min(math.sqrt(count_rank * list_rank), 3 * min(count_rank, list_rank)), word

    return sorted({*ranks, *list_ranks}, key=place)[:most]
