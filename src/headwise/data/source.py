"""What a format needs to know about the file it reads."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice
from typing import NamedTuple, TypeVar

from headwise.data.archives import lines_of
from headwise.data.diagnosis import Finding, places
from headwise.data.errors import DataError, OnError, stop
from headwise.data.files import Line
from headwise.data.folders import folder_lines
from headwise.data.joint import named_in
from headwise.data.options import DEFAULT, ReadOptions
from headwise.data.tables import table_kind, table_lines


class Record(NamedTuple):
    """One record: the line it starts on, and its fields in the file's order.

    Fields are strings, but for JSON, where they are any JSON value.
    """

    line: int
    fields: dict[str, object]


@dataclass
class Source:
    """A file being read: its options, and what is learned on the way."""

    path: str
    options: ReadOptions = DEFAULT
    report: OnError = stop
    notes: list[str] = field(default_factory=list)
    neutral: int = 0
    """Sentiment trees (or phrases) left out because their label is neutral."""
    bare: int = 0
    """Records left out because their label is empty."""
    nulls: int = 0
    """Texts that are null in JSON, as what is missing is."""
    blank: int = 0
    """Blank lines, which are no records."""
    findings: list[Finding] = field(default_factory=list)
    """What looks like a mistake but can be used."""
    head: Sequence[Line] | None = None
    """The first lines, where they are all that is to be looked at."""
    columns: tuple[str | None, ...] = ()
    """Columns that are asked for beside those of the options."""

    @property
    def asked(self) -> list[str]:
        """The columns that are asked for by name or number."""
        named = (self.options.text_column, self.options.label_column, *self.columns)
        return [own for name in named if name for own in dict.fromkeys((name, *named_in(name)))]

    @cached_property
    def table(self) -> str | None:
        """What kind of table that is no text it is, see `headwise.data.tables`."""
        return table_kind(self.path)

    def open(self, *, labelled: bool = False) -> Iterator[Line]:
        """The file's lines; of a folder its texts, which may have to be `labelled`, see
        `headwise.data.folders`; of a workbook or a Parquet file its rows.

        Raises:
            DataError: HW101 to HW109, HW112, HW128, while iterating.
        """
        if self.head is not None:
            return iter(self.head)
        if self.table:
            return table_lines(self.table, self.path, self.notes)
        how = self.path, self.options.encoding, self.options.encoding_errors
        return folder_lines(*how, labelled=labelled) if os.path.isdir(self.path) else lines_of(*how)

    def places(self, lines: Sequence[int]) -> tuple[str, ...]:
        """The first few of some lines as places, and how many more there are."""
        return places(self.path, lines)

    def error(
        self,
        code: str,
        found: str,
        line: int | None = None,
        column: int | None = None,
        *,
        expected: str = "",
        advice: str = "",
    ) -> DataError:
        """An error in this file, to be raised; or to be reported, if the record can be left out."""
        place = {"path": self.path, "line": line, "column": column}
        return DataError(code, found, expected=expected, advice=advice, **place)

    def refuse(self, code: str, found: str, *place: int | None, **said: str) -> None:
        """Report an `error` of these arguments: what cannot be used is left out, if reading is to go on."""
        self.report(self.error(code, found, *place, **said))


Item = TypeVar("Item", bound=Sequence)


def look_ahead(
    items: Iterator[Item], count: int = 1000, budget: int = 1 << 20
) -> tuple[list[Item], Iterator[Item]]:
    """The first items, and an iterator that yields them again and then the rest; fit for pipes.

    Stops after `count` items, or when the last parts of the items (a line's text, a record's
    fields) together hold `budget` characters (of fields, one more each).
    """
    head, size = [], 0
    for item in islice(items, count):
        head.append(item)
        last = item[-1]
        size += len(last) if isinstance(last, str) else sum(len(str(cell)) + 1 for cell in _cells(last))
        if size >= budget:
            break
    return head, chain(head, items)


def _cells(fields: dict | list) -> Iterable:
    return fields.values() if isinstance(fields, dict) else fields
