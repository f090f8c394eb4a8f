"""Prediction files: their columns and records."""

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from headwise.core import native
from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.columns.cell_values import as_text
from headwise.data.items.dataset import InputRow
from headwise.data.readers.spreadsheet_dialect import SpreadsheetDialect
from headwise.metrics.thresholds import predict_labels
from headwise.models.output_file import OutputError

TOLERANCE = 1e-3  # for probabilities, whose last digits depend on the machine and the batch


@dataclass(frozen=True)
class RecordLayout:
    """The record layout of a prediction file.

    Attributes:
        form: csv, tsv or jsonl.
        fields: The fields of the input, in their order.
        labels: The labels of the model.
        least: The confidence threshold below which a prediction is `unsure`; None without such a field.
        novelty_threshold: The novelty score above which a text is `unknown`; None without such fields.
            Predictions then end with the novelty score.
        thresholds: The decision thresholds of the labels; None for the most probable label.
        escape: Whether cells that a spreadsheet would evaluate as formulas get a leading "'".
        dialect: How csv is written; other formats have the usual one, perhaps with a byte order mark.
        headings: The names of fields as they stand in the header of the input, where these are others.
        brief: Whether a table leaves out the probabilities of all labels.
    """

    form: str
    fields: tuple[str, ...]
    labels: tuple[str, ...]
    least: float | None = field(default=None, kw_only=True)
    novelty_threshold: float | None = field(default=None, kw_only=True)
    thresholds: Sequence[float] | None = field(default=None, kw_only=True)
    escape: bool = field(default=False, kw_only=True)
    dialect: SpreadsheetDialect = field(default=SpreadsheetDialect(), kw_only=True)
    headings: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    brief: bool = field(default=False, kw_only=True)

    @classmethod
    def of(cls, form: str, rows: Iterable[InputRow], labels: Sequence[str] = (), **options: Any) -> Self:
        """The layout for rows with the fields of `rows`, with these further attributes.

        Raises:
            OutputError: HW603, the format cannot hold a column's name.
        """
        fields = tuple(dict.fromkeys(name for row in rows for name in row.fields))
        layout = cls(form, fields, tuple(labels), **options)
        if form == "tsv":
            names = (*fields, *layout.added)
            check_cells_of_tsv("the names of the columns", names, names)
        return layout

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the added fields where no field of the input has them: the prediction, its probability,
        `unsure` if there is a `least`, `unknown` and `novelty` if there is a `novelty_threshold`, and the
        probabilities of all labels: one column per label in tables, one object in jsonl."""
        names = ["prediction", "probability"]
        names += [] if self.least is None else ["unsure"]
        names += [] if self.novelty_threshold is None else ["unknown", "novelty"]
        if self.brief:
            return tuple(names)
        every = (
            ["probabilities"] if self.form == "jsonl" else [f"probability:{name}" for name in self.labels]
        )
        return (*names, *every)

    @cached_property
    def added(self) -> tuple[str, ...]:
        """The added fields: `names`, of which those that are taken get a number."""
        taken = set(self.fields)
        return tuple(free_name(name, taken) for name in self.names)

    @property
    def renamed(self) -> dict[str, str]:
        """The added fields that got a number, by their name without it."""
        return {name: new for name, new in zip(self.names, self.added, strict=True) if name != new}

    def without_label_probabilities(self) -> Self:
        """The layout of a table without the columns with the probabilities of all labels."""
        return replace(self, brief=True)

    @property
    def header(self) -> str:
        """The header line with the column names; empty for jsonl."""
        mark = "\ufeff" if self.dialect.marked else ""
        names = [self.headings.get(name, name) for name in self.fields]
        return "" if self.form == "jsonl" else mark + self._line([*names, *self.added])

    def record(self, row: InputRow, probabilities: np.ndarray) -> str:
        """A record of the file, with its line end.

        Args:
            row: A row of the input.
            probabilities: Probabilities, `[labels]`, written with 6 significant digits; behind them the
                novelty score, if there is a `novelty_threshold`.

        Raises:
            OutputError: HW603, the format cannot hold the row.
        """
        return self.records([row], probabilities[None])

    def records(self, rows: Sequence[InputRow], predictions: Any) -> str:
        """The records of rows and their predictions, see `record`."""
        probabilities = np.ascontiguousarray(predictions, dtype=np.float64)
        further = list[list[str]]()  # fields after the probability
        if self.novelty_threshold is not None:
            novelty, probabilities = probabilities[:, -1:], np.ascontiguousarray(probabilities[:, :-1])
            unknown = np.where(novelty[:, 0] > self.novelty_threshold, "true", "false")
            further += [unknown.tolist(), self._number_texts(np.ascontiguousarray(novelty), [""])]
        numbers = predict_labels(probabilities, self.thresholds)
        best = probabilities[np.arange(len(numbers)), numbers]
        if self.least is not None:
            further.insert(0, np.where(best < self.least, "true", "false").tolist())
        # The formatted numbers are inserted as text, so that they look the same in every format.
        if self.form != "jsonl":
            labels = [self._line([label])[:-1] for label in self.labels]
            names = [self._delimiter] * (1 + len(further))
        else:
            labels = [json_text(label) for label in self.labels]
            names = [f", {key}: " for key in map(json_text, self.added[1:-1])]
        values = self._number_texts(best[:, None], names[:1])
        for name, column in zip(names[1:], further, strict=True):
            values = [f"{value}{name}{more}" for value, more in zip(values, column, strict=True)]
        texts = [labels[number] + value for number, value in zip(numbers.tolist(), values, strict=True)]
        return self._assembled(rows, texts, probabilities)

    def _assembled(
        self, rows: Sequence[InputRow], texts: list[str], probabilities: NDArray[np.float64]
    ) -> str:
        """The records of rows in one text: the start of each, its text, and its probabilities,
        `[rows, labels]`."""
        if self.brief:
            before, end, probabilities = [], "\n", np.ascontiguousarray(probabilities[:, :0])
        elif self.form != "jsonl":
            before, end = [self._delimiter] * len(self.labels), "\n"
        else:
            before, end = [f", {json_text(name)}: " for name in self.labels], "}}\n"
            before[0] = f", {json_text(self.added[-1])}: {{{before[0][2:]}"
        if self.form == "csv" and not self.escape:
            cells, delimiter, quoted = [self._cells(row) or [""] for row in rows], self._delimiter, True
        else:
            cells, delimiter, quoted = [[self.start(row)] for row in rows], "", False
        with suppress(UnicodeEncodeError):  # half of a surrogate pair, which only Python's texts hold
            if self._delimiter != ";":
                return native.record_texts(cells, delimiter, quoted, texts, probabilities, before, end)
        joined = zip(rows, texts, self._number_texts(probabilities, before), strict=True)
        return "".join(f"{self.start(row)}{text}{number}{end}" for row, text, number in joined)

    def _number_texts(self, rows: NDArray[np.float64], before: list[str]) -> list[str]:
        """The numbers of each row with 6 significant digits, each behind the text before its column."""
        texts = native.number_texts(rows, before)
        return texts if self.dialect.decimal == "." else [*map(self._with_decimal_mark, texts)]

    def _with_decimal_mark(self, number: str) -> str:
        return number.replace(".", self.dialect.decimal)

    def split_novelty(self, prediction: np.ndarray) -> tuple[np.ndarray, list[str]]:
        """The probabilities of a prediction, and the values of the fields `unknown` and `novelty`; no
        values without a novelty score."""
        if self.novelty_threshold is None:
            return prediction, []
        *_, novelty = prediction.tolist()
        shown = self._with_decimal_mark(f"{novelty:.6g}")
        return prediction[:-1], ["true" if novelty > self.novelty_threshold else "false", shown]

    def start(self, row: InputRow) -> str:
        """The part of a record that depends on the input alone.

        Raises:
            OutputError: HW603, the format cannot hold the row.
        """
        if self.form == "jsonl":
            twice = next((name for name in self.added if name in row.fields), None)
            if twice is not None:
                problem = f"a field {twice!r}, which the first records do not have"
                raise self._unfit(row, problem, "rename it")
            inner = "".join(
                f"{json_text(name)}: {json_text(value)}, " for name, value in row.fields.items()
            )
            return f"{{{inner}{json_text(self.added[0])}: "
        cells = self._cells(row)
        if self.form == "tsv":
            check_cells_of_tsv(place_of(row), self.fields, cells)
        return self._line(cells)[:-1] + self._delimiter

    def _cells(self, row: InputRow) -> list[str]:
        """The cells of a row of the input in a table.

        Raises:
            OutputError: HW603, the row has a field that the table does not have.
        """
        if tuple(row.fields) == self.fields:
            return [*map(as_text, row.fields.values())]
        new = next((name for name in row.fields if name not in self.fields), None)
        if new is not None:
            problem = f"a field {new!r}, which the first records do not have"
            raise self._unfit(row, problem, "write the predictions as jsonl (--format-out jsonl)")
        return [as_text(row.fields.get(name)) for name in self.fields]

    def probabilities(self, record: str) -> list[float]:
        """Parse the probabilities of a record of this layout.

        Raises:
            ValueError: The record has another layout.
        """
        if self.form == "jsonl":
            return [float(p) for p in json.loads(record)[self.added[-1]].values()]
        cells = record.rsplit(self._delimiter, len(self.labels))[1:]
        return [float(cell.replace(",", ".")) for cell in cells]

    def ends(self, lines: Sequence[bytes]) -> bool:
        """Whether these lines are a complete record; records of some layouts have several lines."""
        return True

    def matches(self, record: str, prediction: Any) -> bool:
        """Whether a record has this prediction, up to `TOLERANCE`.

        Raises:
            ValueError, KeyError, TypeError, AttributeError: The record has another layout.
        """
        written = np.array(self.probabilities(record))
        prediction, _ = self.split_novelty(prediction)
        return written.shape == prediction.shape and bool(
            np.abs(written - prediction).max(initial=0) <= TOLERANCE
        )

    def marks_agree(self, record: str, start: str) -> bool:
        """Whether the mark `unsure` of a record that begins with `start` is that of the threshold.

        Raises:
            ValueError, KeyError, IndexError: The record has another layout.
        """
        if self.form == "jsonl":
            fields = json.loads(record)
            probability, mark = fields[self.added[1]], fields[self.added[2]]
        else:
            _, probability, mark, *_ = self._cells_of(record.removeprefix(start))
            probability, mark = float(probability.replace(",", ".")), mark == "true"
        return self._mark_agrees(probability, mark)

    def _mark_agrees(self, probability: float, mark: bool) -> bool:
        least = self.least or 0.0
        return (probability < least) == mark or abs(probability - least) < TOLERANCE

    def _cells_of(self, record: str) -> list[str]:
        """The cells of a record of csv, which may be longer than Python's reader takes by default.

        Raises:
            ValueError: It is no such record.
        """
        limit = csv.field_size_limit(max(len(record), csv.field_size_limit()))
        try:
            return next(csv.reader([record], delimiter=self._delimiter))
        except csv.Error as error:
            raise ValueError(str(error)) from None
        finally:
            csv.field_size_limit(limit)

    @property
    def _delimiter(self) -> str:
        return "\t" if self.form == "tsv" else self.dialect.delimiter

    def _line(self, cells: Sequence[str]) -> str:
        if self.escape:
            cells = ["'" + cell if _FORMULA.match(cell) else cell for cell in cells]
        return table_line(cells, self.form, self._delimiter)

    def _unfit(self, row: InputRow, problem: str, advice: str) -> OutputError:
        return OutputError(f"{place_of(row)}: {problem}; {advice}", code="HW603")


_FORMULA = lazy_pattern(r"[=@\t\r]|[+-](?!\d*[.,]?\d+(e[+-]?\d+)?$)")
"""The beginning of a cell that a spreadsheet evaluates as a formula; numbers do not match."""


def place_of(row: InputRow) -> str:
    """The line of a row, for messages."""
    return f"line {row.line} of {getattr(row.line, 'file', 'the input')}"


def check_cells_of_tsv(
    where: str,
    names: Sequence[str],
    cells: Sequence[str],
    advice: str = "write the predictions as csv or jsonl (--format-out csv)",
) -> None:
    """Check that a tsv file can hold these cells.

    Args:
        where: Their place, for the message.
        names: The names of their columns.
        cells: The cells.
        advice: What to do instead.

    Raises:
        OutputError: HW603, a cell has a tab or a line end.
    """
    for name, cell in zip(names, cells, strict=True):
        if "\t" in cell or "\n" in cell:
            raise OutputError(
                f"{where}: a tab or line end in the column {name!r}, which a tsv file cannot hold; "
                + advice,
                code="HW603",
            )


# Characters that some programs treat as line ends; JSON can escape them.
_LINE_ENDS = {ord(end): f"\\u{ord(end):04x}" for end in "\x85\u2028\u2029"}
_SPECIAL = lazy_pattern(r'["\r\n]')


def _csv_cell(cell: str, delimiter: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if delimiter in cell or _SPECIAL.search(cell) else cell


def _tsv_cell(cell: str) -> str:
    """A cell, quoted only if the tsv reader would otherwise strip its quotation marks."""
    quoted = cell.startswith('"') and cell.endswith('"')
    return '"' + cell.replace('"', '""') + '"' if quoted else cell


def table_line(cells: Iterable[str], form: str, delimiter: str = ",") -> str:
    """A line of a csv or tsv file, with its line end; cells of tsv have passed `check_cells_of_tsv`.
    (Python's writer leaves a lone carriage return without quotation marks.)"""
    if form == "csv":
        return delimiter.join(_csv_cell(cell, delimiter) for cell in cells) + "\n"
    return "\t".join(map(_tsv_cell, cells)) + "\n"


def json_text(value: object) -> str:
    """A value as JSON on one line; characters that some programs treat as line ends are escaped."""
    text = json.dumps(value, ensure_ascii=False)
    return text.translate(_LINE_ENDS) if not text.isascii() else text


def free_name(name: str, taken: set[str]) -> str:
    """The name, with the first free number from 2 if it is taken; adds the result to `taken`."""
    free, number = name, 2
    while free in taken:
        free, number = f"{name}_{number}", number + 1
    taken.add(free)
    return free
