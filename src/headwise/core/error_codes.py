"""The registry of error codes: cause and remedy of each."""

from functools import cache
from importlib.resources import files
from typing import NamedTuple


class ErrorCode(NamedTuple):
    """An error code with its general cause and remedy; the message of an error has the particulars."""

    code: str
    """Identifier: HW and three digits."""
    cause: str
    """What happened."""
    remedy: str
    """What the user can do."""


@cache
def error_codes() -> dict[str, ErrorCode]:
    """All error codes by their identifier, in ascending order."""
    text = (files("headwise.core") / "error_codes.tsv").read_text(encoding="utf-8")
    rows = (ErrorCode(*line.split("\t")) for line in text.splitlines())
    return {row.code: row for row in rows}
