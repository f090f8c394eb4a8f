"""The doctor: reads files, checks them one by one and together, and reports all findings at once."""

import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from math import ceil
from pathlib import PurePath
from typing import Any

from headwise.core.config import unknown_name_error
from headwise.core.errors import ConfigError
from headwise.data.doctor.check_registry import checks_of
from headwise.data.doctor.doctor_report import DoctorReport, FactNames, FileReport, LengthSummary
from headwise.data.doctor.examined_file import CheckedFile
from headwise.data.doctor.label_checks import spread
from headwise.data.errors import DataError
from headwise.data.files.compression import read_once
from headwise.data.files.file_lists import Files, first_path, list_files
from headwise.data.files.memory_tables import DataArgument, tables_as_files
from headwise.data.findings import SHOWN, Finding, count, with_remainder
from headwise.data.items.item_type import ItemType
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK, infer_task, options_for
from headwise.data.readers.file_sets import read_files_as_one

ROLES = ("train", "dev", "test")
_NAMES = {"train": "train", "training": "train", "test": "test", "eval": "test"} | dict.fromkeys(
    ("dev", "devel", "valid", "validation", "val", "testa"), "dev"
)
_ORDER = ("error", "warning", "info")


def doctor_files(
    paths: Sequence[DataArgument] | DataArgument,
    task: str | None = None,
    reading: Mapping[str, object] | None = None,
) -> DoctorReport:
    """Check data files before training.

    Args:
        paths: Training data (a pattern such as part-*.csv is read as one file), or a list with these, then
            perhaps development and test data ("train", "dev" or "test" in a file's name goes before its
            place); "-" is standard input. Or tables in memory: of Arrow, DataFrames, a `datasets.Dataset`.
        task: The task that the files are for; guessed from the first file by default.
        reading: Reading options, where the guess may be wrong: fields of the options of the task's item
            type (`headwise.data.items.item_types.ITEM_TYPES_BY_TASK`).

    Raises:
        ConfigError: No files, an unknown task, or options that do not go together.
    """
    arguments = [paths] if isinstance(paths, str) or not isinstance(paths, Sequence) else paths
    with tables_as_files(*arguments) as file_arguments:
        files = [list_files(file) for file in file_arguments if file is not None]
        if not files:
            raise ConfigError("no files to look at; expected at least one, such as train.tsv")
        reading, why = reading or {}, ""
        if task is None:
            task, why = infer_task(first_path(files[0]), reading)
        if task not in ITEM_TYPES_BY_TASK:
            raise unknown_name_error("task", task, list(ITEM_TYPES_BY_TASK))
        report = diagnose(ITEM_TYPES_BY_TASK[task], files, options_for(task, reading))
        return replace(report, task=task, why=why)


def diagnose(item_type: ItemType, paths: Sequence[Files], options: Any = None) -> DoctorReport:
    """Read and check files of an item type; what cannot be read becomes a finding.

    A record that cannot be used is skipped and reported, and a file that is not in the given encoding is
    read with replacement characters, so that one run reports as much as it can.
    """
    options = item_type.options() if options is None else options
    files: dict[str, CheckedFile] = {}
    findings: list[Finding] = []
    schema: Any = None
    for role, path in zip(guess_roles([*map(first_path, paths)]), paths, strict=True):
        errors: list[DataError] = []
        try:
            data = _examine_file(item_type, path, options, errors, schema, files.get("train"))
            files[role] = CheckedFile(role, data, item_type)
            schema = item_type.schema(data) if schema is None else schema
        except DataError as error:
            # A file whose records were all reported has none to read: that says nothing new.
            if error.code != "HW103" or error.path not in {reported.path for reported in errors}:
                errors.append(error)
        findings += _error_findings(errors)
    return examine(item_type, files, findings)


def examine(
    item_type: ItemType, files: Mapping[str, CheckedFile], findings: Sequence[Finding] = ()
) -> DoctorReport:
    """Check files that have been read, by their roles; `findings` are those of reading them."""
    all_findings, lists = [*findings], (checks_of(item_type), checks_of(item_type.label_type))
    undecoded = [place for finding in findings if finding.code == "HW105" for place in finding.where]
    for file in files.values():
        all_findings += file.data.findings
        misread = any(place.startswith(f"{file.data.path}:") for place in undecoded)
        for check in chain.from_iterable(checks.single for checks in lists):
            all_findings += (item for item in check(file) if not (misread and item.code == "HW159"))
    for check in chain.from_iterable(checks.across for checks in lists):
        all_findings += check(files)
    ranked = sorted(all_findings, key=lambda finding: _ORDER.index(finding.severity))
    return DoctorReport(tuple(map(_file_report, files.values())), tuple(ranked))


def guess_roles(paths: Sequence[str]) -> list[str]:
    """The role of each file: from its name if that tells, else train, dev, test in order.

    A file beyond the three, or a second one of a role, has a number: "train 2".
    """
    words = [re.split("[^a-z]+", PurePath(path).name.lower()) for path in paths]
    named = [next((_NAMES[word] for word in part if word in _NAMES), None) for part in words]
    open_roles = [role for role in ROLES if role not in named]
    roles: list[str] = []
    for role in named:
        role = role or (open_roles.pop(0) if open_roles else "test")
        same = sum(assigned.split()[0] == role for assigned in roles)
        roles.append(f"{role} {same + 1}" if same else role)
    return roles


def _examine_file(
    item_type: ItemType,
    path: Files,
    options: Any,
    errors: list[DataError],
    schema: Any,
    training: CheckedFile | None,
) -> Any:
    further = {"schema": schema, "examine": True, "training": None if training is None else training.data}
    try:
        return read_files_as_one(item_type, path, options, errors.append, **further)
    except DataError as error:
        if error.code != "HW105" or read_once(first_path(path)) or not hasattr(options, "encoding_errors"):
            raise
        errors[:] = [error]
    options = replace(options, encoding_errors="replace")
    return read_files_as_one(item_type, path, options, errors.append, **further)


def _error_findings(errors: Sequence[DataError]) -> list[Finding]:
    """Errors of reading as findings: one for all records with the same remedy."""
    groups: dict[tuple[str, str, str], list[DataError]] = {}
    for error in sorted(errors, key=lambda error: error.line or 0):
        groups.setdefault((error.code, error.expected, error.advice), []).append(error)
    findings = []
    for (code, expected, advice), group in groups.items():
        different = sum(error.problem != group[0].problem for error in group)
        message = group[0].problem + (f"; expected {expected}" if expected else "")
        message += f" (and {count(different, 'record')} like it)" if different else ""
        where = with_remainder([error.where for error in group[:SHOWN]], len(group))
        findings.append(Finding("error", code, message, where, advice))
    return findings


def _file_report(file: CheckedFile) -> FileReport:
    """The facts about a file."""
    item_type, data = file.item_type, file.data
    text, label = item_type.columns_of(data)
    return FileReport(
        role=file.role,
        path=data.path,
        format=data.format,
        text_column=text,
        label_column=label,
        texts=len(file.items),
        distinct=len(file.same),
        empty=data.empty,
        skipped=data.skipped,
        words=summarize_lengths(file.sizes),
        classes=item_type.classes_of(data),
        notes=data.notes,
        names=FactNames(
            item_type.lines or item_type.nouns.many,
            item_type.nouns.length,
            item_type.columns_heading,
            item_type.class_noun,
        ),
        numbers=spread(file) if item_type.label_type.numeric else None,
    )


def summarize_lengths(words: Sequence[int]) -> LengthSummary:
    """Summary of lengths; all zero for no texts."""
    if not words:
        return LengthSummary(0, 0.0, 0.0, 0, 0)
    ranked = sorted(words)
    return LengthSummary(
        min=ranked[0],
        median=float(statistics.median(ranked)),
        mean=sum(ranked) / len(ranked),
        p95=ranked[ceil(0.95 * len(ranked)) - 1],
        max=ranked[-1],
    )
