"""Which words a base lists."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from headwise.features.tokenize import get_tokenizer, plain_spelling

MOST_TYPES = 1 << 22
"""Different words that are counted at once; when there are more, those that came once are forgotten."""


def plain(word: str) -> str:
    """The spelling under which a base lists a word."""
    return plain_spelling(word.lower())


class Counts:
    """Counts of words, in bounded memory."""

    def __init__(self, most: int = MOST_TYPES):
        self.counts: Counter[str] = Counter()
        self._most, self._below = most, 1
        self._plain: dict[str, str] = {}

    def add(self, words: Sequence[str]) -> None:
        """Count words as written."""
        known = self._plain
        for word in words:
            spelling = known.get(word)
            if spelling is None:
                spelling = plain(word)
                if len(known) < self._most:
                    known[word] = spelling
            self.counts[spelling] += 1
        if len(self.counts) > self._most:
            self._below += 1
            self.counts = Counter({w: n for w, n in self.counts.items() if n >= self._below})


def choose_words(
    counts: Mapping[str, int], most: int, *, rarest: int = 1, listed: Sequence[str] = ()
) -> list[str]:
    """The words that a base lists, the most important first.

    A word has two ranks, that of its count and that in a list from elsewhere (if there is one), and the
    geometric mean of the two decides, though never worse than three times the better. Numbers and marks
    rank lower: there is no end of them, and few say anything.

    Args:
        counts: Of words in their plain spelling.
        most: Words to choose.
        rarest: Count below which a word that is not in the list is left out.
        listed: Words from elsewhere, the commonest first.
    """
    by_count = sorted(counts, key=lambda word: (-counts[word], word))
    ranks = {word: rank for rank, word in enumerate(by_count) if counts[word] >= rarest}
    others: dict[str, int] = {}
    cut = get_tokenizer("penn").words
    for word in listed:
        if len(cut(word)) == 1:
            others.setdefault(plain(word), len(others))
    missing, missing_other = 2 * len(ranks) + 1, 3 * len(others) // 2 + 1

    def place(word: str) -> tuple[float, str]:
        own, other = ranks.get(word, missing), others.get(word, missing_other)
        if not any(letter.isalpha() for letter in word):
            return (1.3 if own < 4000 else 3) * own, word
        if not others:
            return own, word
        return min(math.sqrt(own * other), 3 * min(own, other)), word

    return sorted({*ranks, *others}, key=place)[:most]
