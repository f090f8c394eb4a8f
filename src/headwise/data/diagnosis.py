"""What the doctor found, as plain data."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

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
class Lengths:
    """Lengths of texts in words (separated by white space).

    `p95` is the least length that 95 % of the texts do not exceed.
    """

    min: int
    median: float
    mean: float
    p95: int
    max: int


@dataclass(frozen=True)
class Names:
    """What the facts about a file are of: what `texts` counts, what `words` measures, what `text_column`
    (of no interest where this is empty) and `classes` name."""

    items: str = "texts"
    parts: str = "words"
    columns: str = "text from column"
    classes: str = "class"


@dataclass(frozen=True)
class FileReport:
    """The facts about one file; `classes` holds (label, texts, share), the largest first."""

    role: str
    path: str
    format: str
    text_column: str
    label_column: str | None
    texts: int
    distinct: int
    empty: int
    skipped: int
    words: Lengths
    classes: tuple[tuple[str, int, float], ...]
    notes: tuple[str, ...]
    names: Names = Names()


@dataclass(frozen=True)
class Diagnosis:
    """Everything that the doctor has to say; findings are ordered by severity."""

    files: tuple[FileReport, ...]
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> int:
        """How many findings are errors."""
        return sum(finding.severity == "error" for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        """A JSON object of the same structure."""
        return asdict(self)
