"""The beginning of a file, which tells what it is."""

from dataclasses import dataclass
from itertools import islice

from headwise.data.archives import read_files
from headwise.data.errors import DataError
from headwise.data.files import Line

LINES = 400
"""How many lines are looked at."""


@dataclass(frozen=True)
class Head:
    """The first lines of a file.

    Attributes:
        path: The file as the user named it.
        lines: The lines with their numbers; none where the file cannot be read.
    """

    path: str
    lines: tuple[Line, ...]

    @property
    def texts(self) -> list[str]:
        """The lines without their numbers."""
        return [text for _, text in self.lines]


def read_head(path: str, encoding: str = "utf-8") -> Head:
    """The first lines of a file (of the first, where several members of a zip are meant). Who reads the
    file says what is wrong with it."""
    try:
        _, lines = next(iter(read_files(path, encoding, "replace")))
        return Head(path, tuple(islice(lines, LINES)))
    except (DataError, StopIteration):
        return Head(path, ())
