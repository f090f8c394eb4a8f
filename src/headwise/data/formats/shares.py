"""Fractions of lines that decide whether a file has a format."""

from collections.abc import Iterable


def most(answers: Iterable[bool]) -> bool:
    """Whether more than half are true, so that a few damaged lines do not hide a format."""
    return share(answers) > 0.5


def share(answers: Iterable[bool]) -> float:
    """The fraction that is true; 0 for no values."""
    answers = list(answers)
    return sum(answers) / max(len(answers), 1)


def recurring(values: Iterable[str]) -> bool:
    """Whether values recur enough to be labels: at most half (or two) of them are distinct."""
    values = list(values)
    return len(set(values)) <= max(2, len(values) // 2)
