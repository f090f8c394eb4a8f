"""ReportMessage: what a report says in a sentence."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ReportMessage:
    """A message of a report.

    Attributes:
        text: The message, one sentence.
        warning: Whether the user should act on it.
    """

    text: str
    warning: bool = False
