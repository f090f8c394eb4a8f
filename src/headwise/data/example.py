"""One text of a data file, with its label and where it came from."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Example:
    """One text.

    Attributes:
        text: The text exactly as it stands in the file (after decoding and unquoting).
        label: The label's name, or None where the file has none (prediction).
        line: The line of the file, from 1, on which the record starts.
    """

    text: str
    label: str | None = None
    line: int = 0
