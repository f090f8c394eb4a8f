"""Align the words of a model with the tokens of another library on the same text."""

from collections.abc import Sequence

Place = tuple[int, int]
"""Character offsets of a word or token in its text, `(start, end)`, end exclusive."""


def words_of_tokens(tokens: Sequence[Place], words: Sequence[Place]) -> list[int | None]:
    """For each token, the index of the word with which it shares most characters, `[tokens]`. Ties go to
    the first word; None if the token overlaps no word.

    Args:
        tokens: Character offsets of the tokens, in text order.
        words: Character offsets of the words, in text order.
    """
    word_of_token: list[int | None] = []
    first = 0  # all words before this index end before the token begins
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
        word_of_token.append(best)
    return word_of_token
