"""Circles among the heads of a text's words, which make them no tree."""

from collections.abc import Sequence


def circle(heads: Sequence[int]) -> list[int]:
    """Tokens, from 1, that depend on each other in a circle, the first of them first; none in a tree."""
    state = [0] * (len(heads) + 1)  # the walk that came by
    state[0] = -1
    for start in range(1, len(heads) + 1):
        word = start
        while state[word] == 0:
            state[word] = start
            word = heads[word - 1]
        if state[word] == start:  # this walk came by before
            found = [word]
            while (following := heads[found[-1] - 1]) != word:
                found.append(following)
            least = found.index(min(found))
            return found[least:] + found[:least]
    return []


def shown_circle(words: Sequence[int]) -> str:
    """What `circle` found, as errors tell it."""
    return " -> ".join(map(str, [*words[:8], *(["..."] if len(words) > 8 else []), words[0]]))
