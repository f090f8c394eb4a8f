"""DataSource: the file that a reader reads, with its options, notes and findings.

Readers decide by fractions of its first lines whether a file has a format (`most_true`, `values_recur`).
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import chain, islice
from typing import NamedTuple, TypeVar

from headwise.data.columns.column_names import joined_column_names
from headwise.data.columns.item_options import OverlapPolicy
from headwise.data.columns.reading_options import DEFAULT_READ_OPTIONS, ReadOptions
from headwise.data.errors import DataError, OnError, raise_error
from headwise.data.files.archives import read_member_lines
from headwise.data.files.label_folders import folder_lines
from headwise.data.files.tables import TableRow, row_line, table_kind, table_rows
from headwise.data.files.text_lines import Line
from headwise.data.findings import Finding, places


class Record(NamedTuple):
    """One record: the line on which it starts, and its fields in the file's order.

    Fields are strings, or any JSON value in a jsonl file.
    """

    line: int
    fields: dict[str, object]


@dataclass
class RowCounts:
    """How many rows of a file were left out, or were changed when they were read."""

    neutral: int = 0
    """Sentiment trees (or phrases) left out because their label is neutral."""
    unlabelled: int = 0
    """Records left out because their label is empty."""
    nulls: int = 0
    """Texts that are null in JSON and are read as empty ones."""
    skipped_nulls: int = 0
    """Records left out because their text is null."""
    blank: int = 0
    """Blank lines, which are no records."""
    cleaned: int = 0
    """Labels that lost invisible characters."""
    corrected: int = 0
    """Predictions that somebody changed, which are labels."""


@dataclass
class TableLayout:
    """What a reader has learnt about the delimiter and the header of a table."""

    delimiter: str = ""
    """Separator of the fields of a csv or tsv file."""
    header_line: int = 1
    """The line of the header."""
    empty_header: tuple[str, ...] = ()
    """The names of the columns of a table that has a header and nothing else."""
    headings: dict[str, str] = field(default_factory=dict)
    """The column names that were made for reading, each with the name in the file: "" for a column without
    one, and the same for two columns of a name."""
    duplicates: dict[str, str] = field(default_factory=dict)
    """The names of the columns whose name in the file occurs twice, each with that name."""
    repeated: list[int] = field(default_factory=list)
    """The lines that repeat the header, which are left out."""


@dataclass
class DataSource:
    """A file that is being read: its options, and what the reader has to say about it."""

    path: str
    options: ReadOptions = DEFAULT_READ_OPTIONS
    report: OnError = raise_error
    notes: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    """Warnings on data that look wrong but can be used."""
    counts: RowCounts = field(default_factory=RowCounts)
    layout: TableLayout = field(default_factory=TableLayout)
    head: "FileHead | None" = None
    """The first lines, if only these are to be read."""
    trained: bool = False
    """Whether the columns beside the text are those of training, which a file must have."""
    columns: tuple[str | None, ...] = ()
    """Further requested columns, besides those of the options."""

    @property
    def requested_columns(self) -> list[str]:
        """The names or numbers of all requested columns, joined ones (`subject+body`) also part by part."""
        tabular = [column.name for column in self.options.tabular_columns]
        named = (self.options.text_column, self.options.label_column, *tabular, *self.columns)
        return [
            part for name in named if name for part in dict.fromkeys((name, *joined_column_names(name)))
        ]

    @property
    def checks_quotes(self) -> bool:
        """Whether quoted fields may hold whole rows by mistake: in text files, by default."""
        return bool(self.layout.delimiter) and self.options.quoting is None

    @property
    def skips_unanswered(self) -> bool:
        """Whether the options leave out records whose label is empty."""
        return getattr(self.options, "empty_labels", "stop") == "skip"

    @property
    def overlap_policy(self) -> OverlapPolicy:
        """What the options say about spans that overlap."""
        return getattr(self.options, "overlapping_spans", "error")

    @cached_property
    def table(self) -> str | None:
        """The binary table format of the file, "xlsx" or "parquet"; None for text files."""
        return table_kind(self.path)

    def open(self, *, labelled: bool = False) -> Iterator[Line]:
        """The lines of a file, or the texts of a folder, or the `rows` of a binary table as lines.

        `labelled` says whether the texts of a folder must have labels, see
        `headwise.data.files.label_folders`.

        Raises:
            DataError: HW101 to HW109, HW112, HW128, while iterating.
        """
        if self.head is not None:
            return iter(self.head.lines)
        if self.table:
            return map(row_line, self.rows())
        encoding, errors = self.options.encoding, self.options.encoding_errors
        if os.path.isdir(self.path):
            return folder_lines(self.path, encoding, errors, labelled=labelled)
        return read_member_lines(self.path, encoding, errors)

    def rows(self) -> Iterator[TableRow]:
        """The rows of a binary table; none of other files.

        Raises:
            DataError: HW101 to HW104, HW107, HW109, HW112, HW128, while iterating.
        """
        if self.head is not None:
            return iter(self.head.rows)
        if not self.table:
            return iter(())
        return table_rows(self.table, self.path, self.notes)

    def table_records(self, form: str, read: Callable[[], Iterator[Record]]) -> Iterator[Record]:
        """The records that `read` reads in a format. If only the first lines are to be read, all sources of
        them with the same options share their records, which are read once."""
        if self.head is None:
            return read()
        options = (getattr(self.options, option.name) for option in fields(ReadOptions))
        key = (form, *options, *self.requested_columns)
        if key not in self.head.tables:
            self.head.tables[key] = HeadTable.of(self, read())
        return self.head.tables[key].records_for(self)

    def places(self, lines: Sequence[int]) -> tuple[str, ...]:
        """The first few line numbers as `path:line`, and how many more there are."""
        return places(self.path, lines)

    def error(
        self,
        code: str,
        problem: str,
        line: int | None = None,
        column: int | None = None,
        *,
        expected: str = "",
        advice: str = "",
    ) -> DataError:
        """A `DataError` in this file, to raise, or to report if the record can be left out."""
        place = {"path": self.path, "line": line, "column": column}
        return DataError(code, problem, expected=expected, advice=advice, **place)

    def report_error(self, code: str, problem: str, *place: int | None, **details: str) -> None:
        """Report an `error` with these arguments; if the handler returns, the record is left out."""
        self.report(self.error(code, problem, *place, **details))

    def null_text(self, name: str, line: int) -> str | None:
        """What a text that is null stands for, by the option `null_texts`: an empty text, which is counted;
        or None for a row that is left out, which is counted or reported."""
        if self.options.null_texts == "skip":
            self.counts.skipped_nulls += 1
        elif self.options.null_texts == "error":
            advice = "--null-texts empty reads it as an empty text, --null-texts skip leaves its row out"
            self.report_error(
                "HW118", f"the field {name!r} is null", line, expected="a text", advice=advice
            )
        else:
            self.counts.nulls += 1
            return ""
        return None


@dataclass(frozen=True)
class HeadTable:
    """The records of the first lines of a file.

    Attributes:
        layout: The layout of the table, as it was read.
        records: The records.
        error: The error that ended the reading; None if there is none.
    """

    layout: TableLayout
    records: Sequence[Record]
    error: DataError | None

    @classmethod
    def of(cls, source: DataSource, reading: Iterator[Record]) -> "HeadTable":
        """The records of an iterator, to its end or its error."""
        records = list[Record]()
        try:
            records.extend(reading)
        except DataError as error:
            return cls(source.layout, records, error)
        return cls(source.layout, records, None)

    def records_for(self, source: DataSource) -> Iterator[Record]:
        """The records, as if this source had read them."""
        source.layout = replace(self.layout)
        yield from self.records
        if self.error is not None:
            raise self.error


@dataclass(frozen=True)
class FileHead:
    """The first lines of a file.

    Attributes:
        path: The file as the user named it.
        lines: The lines with their numbers; none where the file cannot be read.
        rows: The rows of a binary table, whose `lines` are made from them.
        tables: The records of the lines by format and options, which all sources of them share.
    """

    path: str
    lines: tuple[Line, ...]
    rows: tuple[TableRow, ...] = ()
    tables: dict[object, HeadTable] = field(default_factory=dict, repr=False, compare=False)

    @property
    def texts(self) -> list[str]:
        """The lines without their numbers."""
        return [text for _, text in self.lines]

    def source(self, options: ReadOptions) -> DataSource:
        """These lines as a file to be read; records that cannot be used are skipped."""
        return DataSource(self.path, options, lambda error: None, head=self)


Item = TypeVar("Item", bound=Sequence)


_LOOK_AHEAD = 1 << 20  # characters


def look_ahead(items: Iterator[Item], count: int = 1000) -> tuple[list[Item], Iterator[Item]]:
    """The first items, and an iterator over all items, these included; also works for pipes.

    Stops after `count` items, or when their contents (the text of a line, the fields of a record) hold
    2^20 characters in total (one more for each field).
    """
    head, size = [], 0
    for item in islice(items, count):
        head.append(item)
        last = item[-1]
        size += len(last) if isinstance(last, str) else sum(len(str(cell)) + 1 for cell in _cells(last))
        if size >= _LOOK_AHEAD:
            break
    return head, chain(head, items)


def _cells(fields: dict | list) -> Iterable:
    return fields.values() if isinstance(fields, dict) else fields


def most_true(answers: Iterable[bool]) -> bool:
    """Whether more than half are true, so that a few damaged lines do not hide a format."""
    return fraction_true(answers) > 0.5


def fraction_true(answers: Iterable[bool]) -> float:
    """The fraction that is true; 0 for no values."""
    answers = list(answers)
    return sum(answers) / max(len(answers), 1)


def values_recur(values: Iterable[str]) -> bool:
    """Whether values recur enough to be labels: at most half (or two) of them are distinct."""
    values = list(values)
    return len(set(values)) <= max(2, len(values) // 2)
