"""What is told of an answer that is likely to be wrong."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Suspect:
    """A text whose label is likely to be wrong.

    Attributes:
        line: Of the file.
        label: As given.
        suggested: The most probable other label.
        given_probability: Of the given label.
        probability: Of the suggested one.
        text: As it stands in the file.
        twin: The line of the same or nearly the same text with another label; 0 where there is none.
    """

    line: int
    label: str
    suggested: str
    given_probability: float
    probability: float
    text: str
    twin: int = 0
