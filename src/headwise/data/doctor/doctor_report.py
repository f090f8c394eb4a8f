"""The doctor's report as plain data."""

from dataclasses import asdict, dataclass

from headwise.data.findings import Finding


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

    def __repr__(self) -> str:
        """A line for each file and finding, as consoles and notebooks show it."""
        lines = [f"<DoctorReport for the task {self.task}"]
        for file in self.files:
            facts = [f"{file.texts:,} {file.names.items}"]
            if file.text_column:
                facts.append(f"{file.names.columns} {file.text_column!r}")
            if file.label_column:
                facts.append(f"labels from {file.label_column!r}")
            lines.append(f"{file.role} {file.path}: {', '.join(facts)}")
        for finding in self.findings:
            where = f" at {finding.where[0]}" if finding.where else ""
            fix = f"; {finding.fix}" if finding.fix else ""
            lines.append(f"{finding.severity} {finding.code} {finding.message}{where}{fix}")
        return "\n  ".join(lines) + ">"

    @property
    def errors(self) -> int:
        """How many findings are errors."""
        return sum(finding.severity == "error" for finding in self.findings)

    def to_json(self) -> dict[str, object]:
        """A JSON object of the same structure."""
        return asdict(self)
