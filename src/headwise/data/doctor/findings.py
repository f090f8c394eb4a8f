"""The doctor's report as plain data."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

SHOWN = 5  # places named in a finding
_BEGINNING = 60  # characters of a text

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True)
class Finding:
    """One thing that the user should know.

    Attributes:
        severity: "error" (training will fail or mislead), "warning" (it will be worse than need
            be) or "info".
        code: One of `headwise.data.errors.CODES`.
        message: What was found.
        where: Places such as "train.tsv:17", the first few.
        fix: What headwise does about it, or what the user can do.
    """

    severity: Severity
    code: str
    message: str
    where: tuple[str, ...] = ()
    fix: str = ""


@dataclass(frozen=True)
class LengthSummary:
    """Lengths of texts in words (separated by white space).

    `p95` is the least length that 95 % of the texts do not exceed.
    """

    min: int
    median: float
    mean: float
    p95: int
    max: int


@dataclass(frozen=True)
class NumberSummary:
    """Summary of numeric labels."""

    min: float
    median: float
    mean: float
    max: float


@dataclass(frozen=True)
class FactNames:
    """What the facts of a `FileReport` are called: what `texts` counts, what `words` measures, and what
    `text_column` (not shown if this is empty) and `classes` name."""

    items: str = "texts"
    parts: str = "words"
    columns: str = "text from column"
    classes: str = "class"


@dataclass(frozen=True)
class FileReport:
    """The facts about one file; `classes` holds (label, texts, share), the largest first, and `numbers` the
    summary of numeric labels."""

    role: str
    path: str
    format: str
    text_column: str
    label_column: str | None
    texts: int
    distinct: int
    empty: int
    skipped: int
    words: LengthSummary
    classes: tuple[tuple[str, int, float], ...]
    notes: tuple[str, ...]
    names: FactNames = FactNames()
    numbers: NumberSummary | None = None


@dataclass(frozen=True)
class DoctorReport:
    """The doctor's report; findings are ordered by severity.

    `task` is the task that the files were checked for, and `why` the reason, if it was guessed.
    """

    files: tuple[FileReport, ...]
    findings: tuple[Finding, ...]
    task: str = ""
    why: str = ""

    @property
    def errors(self) -> int:
        """How many findings are errors."""
        return sum(finding.severity == "error" for finding in self.findings)

    def to_json(self) -> dict[str, object]:
        """A JSON object of the same structure."""
        return asdict(self)


def count(number: int, noun: str) -> str:
    """`1 text`, `2,000 texts`, `3 classes`."""
    plural = "" if number == 1 else "es" if noun.endswith("s") else "s"
    return f"{number:,} {noun}{plural}"


def places(path: str, lines: Sequence[int]) -> tuple[str, ...]:
    """The first few lines of a file as places, and how many more there are."""
    return with_remainder([f"{path}:{line}" for line in lines[:SHOWN]], len(lines))


def with_remainder(shown: Sequence[str], total: int) -> tuple[str, ...]:
    """The places shown, and how many more there are of `total`."""
    more = total - len(shown)
    return (*shown, f"and {more:,} more") if more > 0 else tuple(shown)


def abbreviate(items: Sequence[str]) -> str:
    """A list as text: its first eight items, and how many more there are."""
    return ", ".join(items[:8]) + (f" and {len(items) - 8:,} more" if len(items) > 8 else "")


def quoted_beginning(text: str) -> str:
    """The beginning of a text of one line, in quotation marks."""
    return repr(text if len(text) <= _BEGINNING else text[: _BEGINNING - 1] + "…")
