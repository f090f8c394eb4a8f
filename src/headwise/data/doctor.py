"""Look at data files before they are trained on: facts, and findings with their remedies."""

import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import ceil
from pathlib import PurePath
from typing import TypeVar

from headwise.data.checks import check_file, count
from headwise.data.dataset import Dataset
from headwise.data.diagnosis import Diagnosis, FileReport, Finding, Lengths
from headwise.data.duplicates import same_texts
from headwise.data.errors import DataError
from headwise.data.options import DEFAULT, ReadOptions
from headwise.data.overlap import check_files
from headwise.data.read import read_examples

Data = TypeVar("Data")

ROLES = ("train", "dev", "test")
MOST_PROBLEMS = 20  # unusable records that are told one by one, a file
_NAMES = {"train": "train", "training": "train", "test": "test", "eval": "test"} | dict.fromkeys(
    ("dev", "devel", "valid", "validation", "val", "testa"), "dev"
)
_ORDER = ("error", "warning", "info")


def diagnose(datasets: Mapping[str, Dataset]) -> Diagnosis:
    """Examine files that have been read.

    Args:
        datasets: The files by role: "train", "dev", "test"; more files of a role are "train 2" and
            so on.
    """
    reports, findings = [], []
    for role, data in datasets.items():
        words = [len(example.text.split()) for example in data.examples]
        reports.append(file_report(role, data, words))
        findings += check_file(role, data, words)
    findings += check_files(datasets)
    return Diagnosis(tuple(reports), sort_findings(findings))


def diagnose_files(paths: Sequence[str], options: ReadOptions = DEFAULT) -> Diagnosis:
    """Read and examine files; what cannot be read becomes a finding.

    A record that cannot be used is left out and reported, and a file that is not in the given
    encoding is read with replacement characters, so that one run tells as much as it can.
    """
    datasets, problems = read_files(paths, lambda path, errors: _read(path, options, errors))
    diagnosis = diagnose(datasets)
    return replace(diagnosis, findings=sort_findings([*problems, *diagnosis.findings]))


def read_files(
    paths: Sequence[str], read: Callable[[str, list[DataError]], Data]
) -> tuple[dict[str, Data], list[Finding]]:
    """Files by their role, those that can be read; and findings on what cannot.

    Args:
        paths: The files.
        read: Reads a file, and lists the records that cannot be used.
    """
    files: dict[str, Data] = {}
    problems: list[Finding] = []
    for role, path in zip(guess_roles(paths), paths, strict=True):
        errors: list[DataError] = []
        try:
            files[role] = read(path, errors)
        except DataError as error:
            errors.append(error)
        problems += as_findings(errors)
    return files, problems


def guess_roles(paths: Sequence[str]) -> list[str]:
    """The role of every file: from its name if one of them tells, else train, dev, test in order.

    A file beyond the three, or a second one of a role, has a number: "train 2".
    """
    named = [_role(path) for path in paths]
    open_roles = [role for role in ROLES if role not in named]
    roles: list[str] = []
    for role in named:
        role = role or (open_roles.pop(0) if open_roles else "test")
        same = sum(other.split()[0] == role for other in roles)
        roles.append(f"{role} {same + 1}" if same else role)
    return roles


def _role(path: str) -> str | None:
    words = re.split("[^a-z]+", PurePath(path).name.lower())
    return next((_NAMES[word] for word in words if word in _NAMES), None)


def _read(path: str, options: ReadOptions, errors: list[DataError]) -> Dataset:
    try:
        return read_examples(path, options, errors.append)
    except DataError as error:
        if error.code != "HW105" or path == "-":
            raise
        errors[:] = [error]
    return read_examples(path, replace(options, encoding_errors="replace"), errors.append)


def as_findings(errors: Sequence[DataError]) -> list[Finding]:
    """What could not be read, as findings; of many the first."""
    findings = []
    errors = sorted(errors, key=lambda error: error.line or 0)
    for error in errors[:MOST_PROBLEMS]:
        message = error.found + (f"; expected {error.expected}" if error.expected else "")
        findings.append(Finding("error", error.code, message, (error.where,), error.advice))
    if len(errors) > MOST_PROBLEMS:
        rest = errors[MOST_PROBLEMS:]
        message = f"{count(len(rest), 'record')} more that cannot be used"
        findings.append(Finding("error", rest[0].code, message, (rest[0].where,)))
    return findings


def sort_findings(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Errors first, then warnings."""
    return tuple(sorted(findings, key=lambda finding: _ORDER.index(finding.severity)))


def file_report(role: str, data: Dataset, words: Sequence[int]) -> FileReport:
    """The facts about a file of texts."""
    texts = len(data.examples)
    return FileReport(
        role=role,
        path=data.path,
        format=data.format,
        text_column=data.columns.text,
        label_column=data.columns.label,
        texts=texts,
        distinct=len(same_texts(data.examples)),
        empty=data.empty,
        skipped=data.skipped,
        words=measure(words),
        classes=tuple((label, n, n / texts) for label, n in data.labels.items()),
        notes=data.notes,
    )


def measure(words: Sequence[int]) -> Lengths:
    """The lengths' summary; all zero for no texts."""
    if not words:
        return Lengths(0, 0.0, 0.0, 0, 0)
    ranked = sorted(words)
    return Lengths(
        min=ranked[0],
        median=float(statistics.median(ranked)),
        mean=sum(ranked) / len(ranked),
        p95=ranked[ceil(0.95 * len(ranked)) - 1],
        max=ranked[-1],
    )
