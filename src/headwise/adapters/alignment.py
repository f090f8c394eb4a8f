"""From the words that a model reads to the tokens that another library cuts the same text into."""

from collections.abc import Sequence

Place = tuple[int, int]
"""Where a word stands in its text: its first character, and the one after its last."""


def words_of_tokens(tokens: Sequence[Place], words: Sequence[Place]) -> list[int | None]:
    """For each token the number of the word that it shares most characters with, `[tokens]`; the first of
    equals, and None where it shares none.

    Args:
        tokens: Their places in the text, in order.
        words: Likewise.
    """
    found: list[int | None] = []
    first = 0  # words before it end before the token begins
    for start, end in tokens:
        while first < len(words) and words[first][1] <= start:
            first += 1
        best, most = None, 0
        for word in range(first, len(words)):
            if words[word][0] >= end:
                break
            shared = min(end, words[word][1]) - max(start, words[word][0])
            if shared > most:
                best, most = word, shared
        found.append(best)
    return found
