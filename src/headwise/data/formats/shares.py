"""How many lines have to look like a format for a file to be taken for it."""

from collections.abc import Iterable


def most(answers: Iterable[bool]) -> bool:
    """More than half: a few damaged lines do not hide a format, and are told by its reader."""
    return share(answers) > 0.5


def share(answers: Iterable[bool]) -> float:
    """The share of those that are true; 0 of none."""
    answers = list(answers)
    return sum(answers) / max(len(answers), 1)


def recurring(values: Iterable[str]) -> bool:
    """Whether values recur enough to be labels; in a handful of lines they need not."""
    values = list(values)
    return len(set(values)) <= max(2, len(values) // 2)
