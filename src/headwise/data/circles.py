"""Find cycles in dependency parses."""

from collections.abc import Sequence


def circle(heads: Sequence[int]) -> list[int]:
    """The tokens (from 1) of a dependency cycle, starting with the smallest; empty if the heads form a
    tree."""
    state = [0] * (len(heads) + 1)  # the walk that visited each word, 0 for none
    state[0] = -1
    for start in range(1, len(heads) + 1):
        word = start
        while state[word] == 0:
            state[word] = start
            word = heads[word - 1]
        if state[word] == start:  # visited by the same walk: a cycle
            cycle = [word]
            while (following := heads[cycle[-1] - 1]) != word:
                cycle.append(following)
            least = cycle.index(min(cycle))
            return cycle[least:] + cycle[:least]
    return []


def shown_circle(words: Sequence[int]) -> str:
    """A cycle as text, for error messages."""
    return " -> ".join(map(str, [*words[:8], *(["..."] if len(words) > 8 else []), words[0]]))
