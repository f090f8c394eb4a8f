"""The results of speed.py: rows with their bars, a table for people, JSON for machines."""

import json
import operator
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

_HOLDS = {"<=": operator.le, ">=": operator.ge}


@dataclass(frozen=True)
class Row:
    """A result.

    Attributes:
        what: What was measured.
        value: What came out.
        bar: The target: `<= 1.35`, `>= 6`; empty where it is only reported.
        unit: Of the value.
    """

    what: str
    value: float
    bar: str = ""
    unit: str = "x"

    @property
    def met(self) -> bool | None:
        """Whether the bar is reached; None without one."""
        if not self.bar:
            return None
        sign, number = self.bar.split()
        return _HOLDS[sign](self.value, float(number))


@dataclass(frozen=True)
class Result:
    """What a part of the benchmark gives.

    Attributes:
        rows: For the table.
        details: For the JSON file: what the rows were computed from.
        notes: What the reader of the table has to know.
        environment: What it was measured with, where that is not as for the other parts.
    """

    rows: list[Row]
    details: dict[str, Any]
    notes: list[str]
    environment: dict[str, Any] = field(default_factory=dict)


def table(rows: Sequence[Row]) -> str:
    """The rows in Markdown: ratios first, with their targets."""
    lines = ["| value | bar | | what |", "|---:|---:|---|---|"]
    marks = {None: "", True: "met", False: "NOT MET"}
    for row in rows:
        bar = f"{row.bar} {row.unit}" if row.bar else ""
        lines.append(f"| {number(row.value)} {row.unit} | {bar} | {marks[row.met]} | {row.what} |")
    return "\n".join(lines)


def number(value: float) -> str:
    """Three digits that mean something."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def save(path: Path, environment: dict[str, Any], results: dict[str, Result]) -> None:
    """Write the results; those of parts that did not run now stay in the file."""
    stored = json.loads(path.read_text()) if path.exists() else {}
    for name, result in results.items():
        rows = [asdict(row) | {"met": row.met} for row in result.rows]
        stored[name] = {
            "environment": environment | result.environment,
            "rows": rows,
            "details": _rounded(result.details),
            "notes": result.notes,
        }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(stored, indent=1) + "\n")


def _rounded(details: Any) -> Any:
    """Numbers with five digits: the file is in the repository."""
    if isinstance(details, dict):
        return {key: _rounded(value) for key, value in details.items()}
    if isinstance(details, list):
        return [_rounded(value) for value in details]
    return float(f"{details:.5g}") if isinstance(details, float) else details
