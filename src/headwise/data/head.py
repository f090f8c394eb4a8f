"""Read the beginning of a file, to recognise its format."""

import codecs
import os
from dataclasses import dataclass
from io import BytesIO

from headwise.data.archives import open_file
from headwise.data.compression import come, read_once
from headwise.data.errors import DataError
from headwise.data.files import Line, decoded_lines, read_piece
from headwise.data.folders import folder_lines
from headwise.data.options import ReadOptions
from headwise.data.source import Source, look_ahead
from headwise.data.tables import files_of_records

_LONGEST = 1 << 22  # characters of a line that are looked at


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

    def source(self, options: ReadOptions) -> Source:
        """These lines as a file to be read; records that cannot be used are skipped."""
        return Source(self.path, options, lambda error: None, head=self.lines)


_MARKS = codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE


def has_mark(path: str) -> bool:
    """Whether a file begins with a byte order mark, after decompression. The bytes of a pipe are not
    consumed. False if the file cannot be read, which is reported when it is read in full."""
    try:
        if read_once(path):
            return come(path).startswith(_MARKS)
        if os.path.isdir(path):
            return False
        with open_file(path) as file:
            return read_piece(file, path).startswith(_MARKS)
    except DataError:
        return False


def read_head(path: str, encoding: str = "utf-8") -> Head:
    """The first lines of a file (of several members of a zip, those of the first). Of standard input and
    pipes these are the lines that have arrived, which are not consumed. There are none if the file cannot
    be read, which is reported when it is read in full."""
    try:
        if read_once(path):
            return Head(path, tuple(decoded_lines(BytesIO(come(path)), path, encoding, "replace")))
        folder = os.path.isdir(path)
        files = (
            [(path, folder_lines(path, encoding, "replace"))]
            if folder
            else files_of_records(path, encoding, "replace")
        )
        for _, lines in files:
            return Head(path, tuple((number, text[:_LONGEST]) for number, text in look_ahead(lines)[0]))
    except DataError:
        pass
    return Head(path, ())
