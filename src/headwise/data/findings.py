"""Findings: what the user should know of data files, and how messages list items and places."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

SHOWN = 5  # places named in a finding
_BEGINNING = 60  # characters of a text

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True)
class Finding:
    """One thing that the user should know.

    Attributes:
        severity: "error" (training will fail or mislead), "warning" (it will be worse than need
            be) or "info".
        code: A code of `headwise.core.error_codes`.
        message: What was found.
        where: Places such as "train.tsv:17", the first few.
        fix: What headwise does about it, or what the user can do.
    """

    severity: Severity
    code: str
    message: str
    where: tuple[str, ...] = ()
    fix: str = ""


def count(number: int, noun: str) -> str:
    """`1 text`, `2,000 texts`, `3 classes`."""
    plural = "" if number == 1 else "es" if noun.endswith("s") else "s"
    return f"{number:,} {noun}{plural}"


def places(path: str, lines: Sequence[int]) -> tuple[str, ...]:
    """The first few lines of a file as places, and how many more there are."""
    return with_remainder([f"{path}:{line}" for line in lines[:SHOWN]], len(lines))


def with_remainder(shown: Sequence[str], total: int) -> tuple[str, ...]:
    """The places shown, and how many more there are of `total`."""
    more = total - len(shown)
    return (*shown, f"and {more:,} more") if more > 0 else tuple(shown)


def abbreviate(items: Sequence[str], separator: str = ", ") -> str:
    """A list as text: its first eight items, and how many more there are."""
    return separator.join(items[:8]) + (f" and {len(items) - 8:,} more" if len(items) > 8 else "")


def quoted_beginning(text: str) -> str:
    """The beginning of a text of one line, in quotation marks."""
    return repr(text if len(text) <= _BEGINNING else text[: _BEGINNING - 1] + "…")
