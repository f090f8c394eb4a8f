"""The dialect of csv that the program behind a file opens: spreadsheets with decimal commas separate fields
by semicolons."""

import codecs
import os
from dataclasses import dataclass
from itertools import islice

from headwise.core.config import JsonMapping
from headwise.core.errors import HeadwiseError
from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.columns.cell_values import as_text
from headwise.data.columns.reading_options import ReadOptions
from headwise.data.files.tables import table_kind
from headwise.data.formats.csv import read_cells
from headwise.data.readers.file_preview import has_byte_order_mark, read_preview
from headwise.data.readers.labelled_files import find_format

_DIALECT_OPTIONS = ("format", "delimiter", "quoting", "escape", "encoding")
_DECIMAL_COMMA, _DECIMAL_POINT = lazy_pattern(r"-?[\d.]*,\d+"), lazy_pattern(r"-?\d*\.\d+")
_UTF8 = {codecs.lookup(name).name for name in ("utf-8", "utf-8-sig", "ascii")}


@dataclass(frozen=True)
class SpreadsheetDialect:
    """How a csv file is written.

    Attributes:
        delimiter: The character between fields.
        decimal: The decimal mark of numbers.
        marked: Whether the file begins with a byte order mark, which Excel needs to detect UTF-8.
    """

    delimiter: str = ","
    decimal: str = "."
    marked: bool = False

    @classmethod
    def of(cls, path: str, reading: JsonMapping) -> "SpreadsheetDialect":
        """The dialect that the program behind a file opens; commas and points if the file is not csv with
        semicolons, or cannot be read.

        Numbers beside semicolons have decimal commas, unless the first rows have decimal points only.
        """
        if os.path.isdir(path) or table_kind(path):
            return cls()
        options = {name: reading[name] for name in _DIALECT_OPTIONS if reading.get(name) is not None}
        encoding, marked = str(options.get("encoding", "utf-8")), has_byte_order_mark(path)
        try:
            marked |= codecs.lookup(encoding).name not in _UTF8
            source = read_preview(path, encoding, wait=True).source(ReadOptions(**options))
            form, lines = find_format(source, labelled=False)
            rows = [cells for _, cells in islice(read_cells(lines, source), 1000)] if form == "csv" else []
        except (HeadwiseError, LookupError):  # reported where the file is read in full
            return cls(marked=marked)
        if source.layout.delimiter != ";":
            return cls(marked=marked)
        cells = [cell for row in rows for cell in row]
        points = any(map(_DECIMAL_POINT.fullmatch, cells)) and not any(map(_DECIMAL_COMMA.fullmatch, cells))
        return cls(";", "." if points else ",", marked)

    def cell(self, value: object) -> str:
        """A value as a cell."""
        return str(value).replace(".", self.decimal) if isinstance(value, float) else as_text(value)

    @property
    def note(self) -> str:
        """What differs from commas and points, for a note; "" if nothing does."""
        if self.delimiter == ",":
            return ""
        marks = "semicolons and decimal commas" if self.decimal == "," else "semicolons"
        return f"the output has {marks}, as the input has"
