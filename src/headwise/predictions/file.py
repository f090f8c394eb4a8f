"""Files of predictions: their columns, their records, and where they can be written."""

import gzip
import json
import lzma
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np

from headwise.data.formats.jsonl import as_text
from headwise.data.rows import Row
from headwise.errors import ConfigError, HeadwiseError
from headwise.scores.thresholds import decide
from headwise.store.whole import named_when_whole

FORMS = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl"}
"""Formats of tables of predictions, by the suffix of their files."""
TOLERANCE = 1e-3  # of a probability; other machines and batches differ in the last digits
COMPRESSED = (".gz", ".xz")


class OutputError(HeadwiseError):
    """Predictions cannot be written as asked.

    Codes: HW601 the file exists, HW602 it cannot be resumed, HW603 a record does not fit the format,
    HW604 the file cannot be written, HW605 the format is not known, HW606 another process is writing to it,
    HW607 one of the processes that predict has ended before its time, HW608 the model has been replaced
    before all of them had opened it.
    """

    code = "HW600"


def choose_form(
    path: Path | None, asked: str | None, known: Mapping[str, str] = FORMS, usual: str = "csv"
) -> str:
    """The format of the predictions: as asked, else by the file's suffix, else the usual one for standard
    output.

    Args:
        path: The file, or None for standard output.
        asked: What the user has asked for by name.
        known: The formats by suffix.
        usual: Where neither is given.

    Raises:
        ConfigError: What is asked for is not one of those that are known.
        OutputError: HW605, the suffix is not known.
    """
    forms = list(dict.fromkeys(known.values()))
    if asked is not None and asked not in forms:
        raise ConfigError(f"--format-out {asked}; expected {', '.join(forms)}")
    return asked or form_of(path, known, usual, advice=", or give --format-out")


def form_of(path: Path | None, known: Mapping[str, str], usual: str, *, advice: str = "") -> str:
    """The same where no format can be asked for; `advice` says what else to do.

    Raises:
        OutputError: HW605, the suffix is not known.
    """
    if path is None:
        return usual
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    if suffixes and suffixes[-1] in known:
        return known[suffixes[-1]]
    *others, last = (f".{form}" for form in dict.fromkeys(known.values()))
    names = f"{', '.join(others)} or {last}" if others else last
    raise OutputError(
        f"{path}: the format of the predictions is not known; name the file {names} (.gz or "
        f".xz after it compresses){advice}",
        code="HW605",
    )


@contextmanager
def open_output(path: Path | None, *, append: bool = False, whole: bool = False) -> Iterator[IO[bytes]]:
    """Open a file for predictions, compressed by its suffix; None is standard output.

    Args:
        path: The file.
        append: Go on at its end.
        whole: It is of no use in part: it takes its name at the end, and what has the name stays till then.

    Raises:
        OutputError: HW604, it cannot be opened or written, as when the disk is full.
    """
    if path is None:
        with telling_failures("standard output"):
            yield sys.stdout.buffer
        return
    place = named_when_whole(path) if whole else nullcontext(path)
    with telling_failures(path), place as part, open(part, "ab" if append else "wb") as file:
        if path.suffix.lower() == ".gz":
            # Neither name nor time in the file: the same predictions are the same bytes.
            with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
                yield packed  # type: ignore[misc]
        elif path.suffix.lower() == ".xz":
            with lzma.LZMAFile(file, "wb") as packed:
                yield packed
        else:
            yield file


@contextmanager
def telling_failures(path: Path | str) -> Iterator[None]:
    """Say of what fails here that the file (or what is written in this folder) cannot be written; a closed
    pipe is no failure, and what fails elsewhere has its own name.

    Raises:
        OutputError: HW604.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        own, target = Path(str(error.filename or path)).absolute(), Path(path).absolute()
        if not own.is_relative_to(target) and own.parent != target.parent:
            raise
        name = own if target.is_dir() else path
        raise OutputError(f"{name}: cannot be written: {error.strerror or error}", code="HW604") from None


@dataclass(frozen=True)
class RecordLayout:
    """How predictions are written down.

    Attributes:
        form: csv, tsv or jsonl.
        fields: The input's fields, in their order.
        labels: The model's labels.
        added: Names of what is added to the fields: the prediction, its probability, and then, in
            tables, the probability of every label, in jsonl one object of them. Before these `unsure`,
            where there is a `least`.
        least: The least probability of a prediction that is sure enough; None where nobody asks.
        thresholds: Of the labels, where they have any.
        escape: Whether a "'" is put before cells of tables that a spreadsheet would compute.
        marked: Whether tables begin with a byte order mark, without which Excel reads no UTF-8.
    """

    form: str
    fields: tuple[str, ...]
    labels: tuple[str, ...]
    added: tuple[str, ...]
    least: float | None = field(default=None, kw_only=True)
    thresholds: Sequence[float] | None = field(default=None, kw_only=True)
    escape: bool = field(default=False, kw_only=True)
    marked: bool = field(default=False, kw_only=True)

    @classmethod
    def of(
        cls,
        form: str,
        rows: Iterable[Row],
        labels: Sequence[str],
        least: float | None = None,
        thresholds: Sequence[float] | None = None,
    ) -> "RecordLayout":
        """The layout for rows like these; names that they have already get a number.

        Raises:
            OutputError: HW603, the format cannot hold a column's name.
        """
        fields = tuple(dict.fromkeys(name for row in rows for name in row.fields))
        each = ["probabilities"] if form == "jsonl" else [f"probability:{label}" for label in labels]
        taken = set(fields)
        marks = () if least is None else ("unsure",)
        added = [free_name(name, taken) for name in ("prediction", "probability", *marks, *each)]
        names = (*fields, *added)
        if form == "tsv" and (bad := _breaking(names, names)):
            raise OutputError(f"the names of the columns: {'; '.join(bad)}", code="HW603")
        return cls(form, fields, tuple(labels), tuple(added), least=least, thresholds=thresholds)

    @property
    def header(self) -> str:
        """The beginning of the file: the line that names the columns; empty for jsonl."""
        mark = "\ufeff" if self.marked else ""
        return "" if self.form == "jsonl" else mark + self._line([*self.fields, *self.added])

    def record(self, row: Row, probabilities: np.ndarray) -> str:
        """One record with its line end.

        Args:
            row: A record of the input.
            probabilities: `[labels]`; written with 6 significant digits.

        Raises:
            OutputError: HW603, the format cannot hold the row.
        """
        number = int(decide(probabilities, self.thresholds))
        label, shown = self.labels[number], [f"{probability:.6g}" for probability in probabilities.tolist()]
        values = [shown[number]]
        if self.least is not None:
            values.append("true" if probabilities[number] < self.least else "false")
        if self.form != "jsonl":
            # Numbers need no quotation marks.
            return (
                self.start(row) + self._delimiter.join([self._line([label])[:-1], *values, *shown]) + "\n"
            )
        # The numbers are put in as they are, so that they look the same in every format.
        *names, each = map(json_text, self.added[1:])
        first = ", ".join(f"{name}: {value}" for name, value in zip(names, values, strict=True))
        pairs = ", ".join(f"{json_text(name)}: {p}" for name, p in zip(self.labels, shown, strict=True))
        return f"{self.start(row)}{json_text(label)}, {first}, {each}: {{{pairs}}}}}\n"

    def start(self, row: Row) -> str:
        """A record as far as the input alone decides it.

        Raises:
            OutputError: HW603, the format cannot hold the row.
        """
        if self.form == "jsonl":
            twice = next((name for name in self.added if name in row.fields), None)
            if twice is not None:
                found = f"a field {twice!r}, which the first records do not have"
                raise self._unfit(row, found, "rename it")
            inner = "".join(
                f"{json_text(name)}: {json_text(value)}, " for name, value in row.fields.items()
            )
            return f"{{{inner}{json_text(self.added[0])}: "
        new = next((name for name in row.fields if name not in self.fields), None)
        if new is not None:
            found = f"a field {new!r}, which the first records do not have"
            raise self._unfit(row, found, "write the predictions as jsonl (--format-out jsonl)")
        cells = [as_text(row.fields.get(name)) for name in self.fields]
        if self.form == "tsv" and (bad := _breaking(self.fields, cells)):
            raise self._unfit(row, *bad)
        return self._line(cells)[:-1] + self._delimiter

    def probabilities(self, record: str) -> list[float]:
        """The probabilities in a record of this layout.

        Raises:
            ValueError: It is no such record.
        """
        if self.form == "jsonl":
            return [float(p) for p in json.loads(record)[self.added[-1]].values()]
        return [float(cell) for cell in record.rsplit(self._delimiter, len(self.labels))[1:]]

    def ends(self, lines: Sequence[bytes]) -> bool:
        """Whether these lines are a whole record, where records have several."""
        return True

    def agrees(self, record: str, found: Any) -> bool:
        """Whether a record says what a model says.

        Raises:
            ValueError, KeyError, TypeError, AttributeError: It is no record of this layout.
        """
        written = np.array(self.probabilities(record))
        return written.shape == found.shape and bool(np.abs(written - found).max(initial=0) <= TOLERANCE)

    @property
    def _delimiter(self) -> str:
        return "\t" if self.form == "tsv" else ","

    def _line(self, cells: Sequence[str]) -> str:
        quoted = _csv_cell if self.form == "csv" else _tsv_cell
        if self.escape:
            cells = ["'" + cell if _FORMULA.match(cell) else cell for cell in cells]
        return self._delimiter.join(map(quoted, cells)) + "\n"

    def _unfit(self, row: Row, found: str, advice: str) -> OutputError:
        return OutputError(f"line {row.line} of the input: {found}; {advice}", code="HW603")


_FORMULA = re.compile(r"[=@\t\r]|[+-](?!\d*\.?\d+(e[+-]?\d+)?$)")
"""How a cell begins that a spreadsheet computes; numbers are none."""


def _breaking(names: Sequence[str], cells: Sequence[str]) -> tuple[str, str] | None:
    """What is wrong and what to do where a cell would break the lines of a tsv file."""
    bad = next(
        (name for name, cell in zip(names, cells, strict=True) if "\t" in cell or "\n" in cell), None
    )
    if bad is None:
        return None
    found = f"a tab or line end in the column {bad!r}, which a tsv file cannot hold"
    return found, "write the predictions as csv or jsonl (--format-out csv)"


# Characters that some programs take for the end of a line; JSON may spell them out.
_LINE_ENDS = {ord(end): f"\\u{ord(end):04x}" for end in "\x85\u2028\u2029"}
_SPECIAL = re.compile(r'[",\r\n]')


def _csv_cell(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if _SPECIAL.search(cell) else cell


def _tsv_cell(cell: str) -> str:
    """Quoted only where the reader of tsv would otherwise take quotation marks away."""
    quoted = cell.startswith('"') and cell.endswith('"')
    return '"' + cell.replace('"', '""') + '"' if quoted else cell


def json_text(value: object) -> str:
    """A value as JSON on one line, also for programs that take more characters for line ends."""
    text = json.dumps(value, ensure_ascii=False)
    return text.translate(_LINE_ENDS) if not text.isascii() else text


def free_name(name: str, taken: set[str]) -> str:
    """The name, or with the first number from 2 that nobody has; it is taken then."""
    free, number = name, 2
    while free in taken:
        free, number = f"{name}_{number}", number + 1
    taken.add(free)
    return free
