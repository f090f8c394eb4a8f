"""The records of a file of one dialect of csv: a delimiter, quotation marks, perhaps an escape character.

A field that begins with a quotation mark ends with one. Inside it, a doubled mark is a quotation mark, and
delimiters and line ends belong to the field. In other fields a quotation mark is an ordinary character.
Blanks between a delimiter and a quotation mark do not count.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from headwise.core import native
from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.columns.file_source import DataSource
from headwise.data.errors import DataError
from headwise.data.files.text_lines import Line

LONGEST_FIELD = 1 << 26  # characters; a longer quoted field has a stray quotation mark
MOST_FIELDS = 1 << 17  # of a record
MARKS = {"double": '"', "single": "'"}
"""The quotation mark of each kind of quoting."""
DELIMITERS = ",;\t|^~\x01"
"""The delimiters that are tried where none is given."""
ONE_COLUMN = "\0"
"""The delimiter of a table of one column: a character that no line holds."""

Cells = tuple[int, list[str]]
"""The first line number of a record, and its fields."""

_ESCAPE_ADVICE = "give --escape '\\', if a backslash before a quotation mark makes it a character"


@dataclass(frozen=True)
class Dialect:
    """How the fields of a line are separated.

    Attributes:
        delimiter: One character between fields.
        quoted: Whether quotation marks enclose fields; otherwise they are ordinary characters.
        escape: A character that makes a delimiter, quotation mark, line end or itself ordinary; or None.
        mark: The quotation mark.
    """

    delimiter: str
    quoted: bool = True
    escape: str | None = None
    mark: str = '"'

    @cached_property
    def inside(self) -> re.Pattern[str]:
        """Matches the rest of a quoted field on a line."""
        mark = self.mark
        if self.escape is None:
            return re.compile(f"[^{mark}]*+(?:{mark}{mark}[^{mark}]*+)*+")
        escape = re.escape(self.escape)
        plain = f"[^{mark}{escape}]*+"
        return re.compile(f"{plain}(?:(?:{mark}{mark}|{escape}(?:.|$)){plain})*+", re.DOTALL)

    @cached_property
    def plain(self) -> re.Pattern[str]:
        """Matches a field without quotation marks, if there is an escape character."""
        mark, end = re.escape(self.escape or ""), re.escape(self.delimiter)
        return re.compile(rf"(?:[^{mark}{end}]|{mark}(?:.|$))*+", re.DOTALL)

    def unescaped(self, text: str) -> str:
        """A field without the escape characters that make others ordinary."""
        if self.escape is None or self.escape not in text:
            return text
        ordinary = re.escape(f"{self.mark}{self.delimiter}{self.escape}\n")
        return re.sub(rf"{re.escape(self.escape)}([{ordinary}])", r"\1", text)


_BLANKS = lazy_pattern(r" *")


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Where what a pattern matches ends, which it does everywhere."""
    return match.end() if (match := pattern.match(text, at)) else at


def read_records(lines: Iterator[Line], dialect: Dialect, source: DataSource) -> Iterator[Cells]:
    """The rows of a file; invalid ones are reported and left out, blank ones are counted."""
    delimiter, escape, mark = dialect.delimiter, dialect.escape, dialect.mark
    compiled = escape is None and mark == MARKS["double"]
    for number, text in lines:
        if (dialect.quoted and mark in text) or (escape is not None and escape in text):
            if compiled and (cells := native.quoted_cells(text, delimiter)) is not None:
                yield number, cells
                continue
            try:
                yield number, _Record(number, text, lines, dialect, source.path).fields()
            except DataError as error:
                source.report(error)
        elif text.strip(" \r"):
            if text.count(delimiter) >= MOST_FIELDS:
                source.report(too_many_fields_error(source.path, number))
                continue
            yield number, text.removesuffix("\r").split(delimiter)
        else:
            source.counts.blank += 1


def quoting_advice(mark: str) -> str:
    """What to do about a quotation mark where none belongs."""
    return (
        f"write a {mark} inside a quoted field as {2 * mark}, or give --quoting none where quotation marks "
        "are ordinary characters"
    )


def too_many_fields_error(path: str, number: int) -> DataError:
    """The error for a record of more than `MOST_FIELDS` fields."""
    problem = f"a row of more than {MOST_FIELDS:,} fields"
    return DataError("HW110", problem, expected="a table", path=path, line=number)


class _Record:
    """A record that starts with the line `text` and may take more `lines`."""

    def __init__(self, number: int, text: str, lines: Iterator[Line], dialect: Dialect, path: str):
        self.number, self.text, self.at = number, text, 0
        self.lines, self.dialect, self.path = lines, dialect, path

    def fields(self) -> list[str]:
        """The fields of the record.

        Raises:
            DataError: HW110, HW114.
        """
        cells: list[str] = []
        while True:
            if self._skip_to_quote():
                cells.append(self._quoted_field())
            else:
                cells.append(self._plain_field())
            if len(cells) > MOST_FIELDS:
                raise too_many_fields_error(self.path, self.number)
            if self.at == len(self.text):
                return cells
            self.at += 1  # the delimiter

    def _skip_to_quote(self) -> bool:
        """Whether a quoted field begins here. Blanks before it are skipped if it ends on this line and
        before a delimiter: otherwise its quotation mark is a character of the text."""
        if not self.dialect.quoted:
            return False
        if self.text.startswith(self.dialect.mark, self.at):
            return True
        if self.dialect.delimiter == " ":
            return False
        start = _end(_BLANKS, self.text, self.at)
        if not self.text.startswith(self.dialect.mark, start):
            return False
        end = _end(self.dialect.inside, self.text, start + 1)
        if end == len(self.text) or self._field_end(end + 1) is None:
            return False
        self.at = start
        return True

    def _field_end(self, at: int) -> int | None:
        """The place after the blanks here, if a delimiter or the end of the line stands there; or None."""
        end = at if self.dialect.delimiter == " " else _end(_BLANKS, self.text, at)
        if end == len(self.text) or (end == len(self.text) - 1 and self.text[end] == "\r"):
            return len(self.text)
        return end if self.text[end] == self.dialect.delimiter else None

    def _plain_field(self) -> str:
        start = self.at
        if self.dialect.escape is None:
            end = self.text.find(self.dialect.delimiter, start)
        else:
            parts = [self._escaped_piece()]
            while self.at == len(self.text) and self._continues(parts[-1]):
                following = next(self.lines, None)
                if following is None:
                    break
                (self.number, self.text), self.at = following, 0
                parts.append(self._escaped_piece())
            return self.dialect.unescaped("\n".join(parts).removesuffix("\r"))
        self.at = len(self.text) if end < 0 else end
        return self.text[start : self.at].removesuffix("\r") if end < 0 else self.text[start:end]

    def _escaped_piece(self) -> str:
        start, self.at = self.at, _end(self.dialect.plain, self.text, self.at)
        return self.text[start : self.at]

    def _continues(self, piece: str) -> bool:
        """Whether a line ends with an escape character that is not escaped itself."""
        mark = self.dialect.escape or ""
        return (len(piece) - len(piece.rstrip(mark))) % 2 == 1

    def _quoted_field(self) -> str:
        opening, parts, length = (self.number, self.at + 1), list[str](), 0
        mark = self.dialect.mark
        self.at += 1
        while True:
            end = _end(self.dialect.inside, self.text, self.at)
            parts.append(self.text[self.at : end].replace(2 * mark, mark))
            if end < len(self.text):
                break
            length += len(parts[-1])
            following = next(self.lines, None)
            if following is None or length > LONGEST_FIELD:
                raise DataError(
                    "HW114",
                    "a quotation mark that is never closed",
                    expected=f"a closing {mark} before the end of the file",
                    advice=quoting_advice(mark),
                    path=self.path,
                    line=opening[0],
                    column=opening[1],
                )
            parts.append("\n")
            (self.number, self.text), self.at = following, 0
        after = self._field_end(end + 1)
        if after is None:
            self._raise_unexpected(end + 1, opening)
        self.at = after or end + 1
        return self.dialect.unescaped("".join(parts))

    def _raise_unexpected(self, at: int, opening: tuple[int, int]) -> None:
        """Report what stands after a closing quotation mark (HW114)."""
        problem = f"{self.text[at]!r} after a closing quotation mark"
        if opening[0] != self.number:
            problem += f" (the field begins in line {opening[0]:,})"
        mark = self.dialect.mark
        escaped = self.text[:at].endswith(f"\\{mark}") and self.dialect.escape is None
        raise DataError(
            "HW114",
            problem,
            expected=f"{self.dialect.delimiter!r} or the end of the line",
            advice=_ESCAPE_ADVICE if escaped else quoting_advice(mark),
            path=self.path,
            line=self.number,
            column=at + 1,
        )
