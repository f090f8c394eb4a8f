"""The doctor's look at files of text pairs: what it says of texts, and what only pairs can have."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from headwise.data.checks import check_file, count, places
from headwise.data.columns import Columns
from headwise.data.dataset import Dataset
from headwise.data.diagnosis import Diagnosis, FileReport, Finding
from headwise.data.doctor import measure, read_files, sort_findings
from headwise.data.doctor_numbers import OF_CLASSES
from headwise.data.duplicates import normal_text, same_texts
from headwise.data.errors import DataError
from headwise.data.example import Example
from headwise.data.numbers import look_like_scores
from headwise.data.overlap import check_files
from headwise.data.pair import DEFAULT, PairOptions
from headwise.data.pairs import PairData, read_pairs
from headwise.data.shortcut import majority_share, one_sided_accuracy

SHORTCUT = 0.1  # how much more than the commonest label one text alone may tell
_LEAST = 200  # pairs from which that can be measured
_MOST = 20_000  # pairs that it is measured on


def diagnose_pairs(paths: Sequence[str], options: PairOptions = DEFAULT) -> Diagnosis:
    """Read and examine files of text pairs; what cannot be read becomes a finding."""
    files, problems = read_files(paths, lambda path, errors: _read(path, options, errors))
    scored = any(look_like_scores(data.labels) for data in files.values())
    whole = {role: _as_dataset(data) for role, data in files.items()}
    findings: list[Finding] = []
    for role, data in files.items():
        words = [len(example.text.split()) for example in whole[role].examples]
        findings += check_file(role, whole[role], words)
        findings += _half_empty(data)
        findings += _swapped(data)
        if not scored:
            findings += _shortcut(data)
    findings += check_files(whole)
    findings += _shared_firsts(files)
    findings += _swapped_between(files)
    if scored:
        findings = [finding for finding in findings if finding.code not in OF_CLASSES]
    reports = tuple(_report(role, data, scored) for role, data in files.items())
    return Diagnosis(reports, sort_findings([*problems, *findings]))


def _read(path: str, options: PairOptions, errors: list[DataError]) -> PairData:
    try:
        return read_pairs(path, options, errors.append)
    except DataError as error:
        if error.code != "HW105" or path == "-":
            raise
        errors[:] = [error]
    return read_pairs(path, replace(options, encoding_errors="replace"), errors.append)


def _half_empty(data: PairData) -> Iterator[Finding]:
    lines = [pair.line for pair in data.pairs if bool(pair.first.strip()) != bool(pair.second.strip())]
    if lines:
        fix = "headwise keeps and counts them; fill them or remove the rows"
        message = f"{count(len(lines), 'pair')} with an empty text"
        yield Finding("warning", "HW150", message, places(_as_dataset(data), lines), fix)


def _swapped(data: PairData) -> Iterator[Finding]:
    """Pairs that also stand in the file the other way round, with another label."""
    labels: dict[tuple[str, str], str | None] = {}
    for pair in data.pairs:
        labels.setdefault((normal_text(pair.first), normal_text(pair.second)), pair.label)
    lines = []
    for pair in data.pairs:
        one, other = normal_text(pair.first), normal_text(pair.second)
        if one != other and (other, one) in labels and labels[other, one] != pair.label:
            lines.append(pair.line)
    if lines:
        message = f"{count(len(lines), 'pair')} with another label the other way round"
        fix = "right where the order matters (entailment), wrong where it does not (similarity)"
        yield Finding("info", "HW164", message, places(_as_dataset(data), lines), fix)


def _shortcut(data: PairData) -> Iterator[Finding]:
    """Labels that one of the two texts gives away."""
    pairs = [pair for pair in data.pairs if pair.label is not None][:_MOST]
    if len(pairs) < _LEAST:
        return
    labels = [pair.label or "" for pair in pairs]
    common = majority_share(labels)
    sides = (("second", [pair.second for pair in pairs]), ("first", [pair.first for pair in pairs]))
    for name, texts in sides:
        guessed = one_sided_accuracy(texts, labels)
        if guessed < common + SHORTCUT:
            continue
        message = (
            f"the words of the {name} texts alone tell {guessed:.0%} of the labels (the commonest label: "
            f"{common:.0%})"
        )
        fix = (
            "a model can look good without comparing the texts; compare its score with that number, and "
            "add pairs in which the same text has different labels"
        )
        yield Finding("warning", "HW165", message, (data.path,), fix)


def _shared_firsts(files: Mapping[str, PairData]) -> Iterator[Finding]:
    """First texts of test or dev pairs that training has with other second texts."""
    for one, other in combinations(files, 2):
        if one.split()[0] == other.split()[0]:
            continue
        seen = {normal_text(pair.first) for pair in files[one].pairs}
        data = files[other]
        shared = [pair for pair in data.pairs if normal_text(pair.first) in seen]
        if not shared:
            continue
        share = len(shared) / len(data.pairs)
        message = f"{count(len(shared), 'pair')} of {other} ({share:.1%}) with a first text that {one} has"
        fix = "scores hold for texts that were seen; split by the first text (headwise does) for new ones"
        where = places(_as_dataset(data), (pair.line for pair in shared))
        yield Finding("info", "HW166", message, where, fix)


def _swapped_between(files: Mapping[str, PairData]) -> Iterator[Finding]:
    """Pairs of one file that stand in another the other way round."""
    for one, other in combinations(files, 2):
        if one.split()[0] == other.split()[0]:
            continue
        seen = {(normal_text(pair.second), normal_text(pair.first)) for pair in files[one].pairs}
        data = files[other]
        lines = [p.line for p in data.pairs if (normal_text(p.first), normal_text(p.second)) in seen]
        if lines:
            message = f"{count(len(lines), 'pair')} of {other} also in {one}, the other way round"
            fix = f"results on {other} will look too good: remove these rows from {one}"
            yield Finding("warning", "HW160", message, places(_as_dataset(data), lines), fix)


def _as_dataset(data: PairData) -> Dataset:
    """Each pair as one text, for the checks that look at texts."""
    examples = [Example(f"{pair.first}\n{pair.second}", pair.label, pair.line) for pair in data.pairs]
    columns = Columns(f"{data.columns.first} + {data.columns.second}", data.columns.label)
    return Dataset(examples, data.path, data.format, columns, data.notes, data.empty, data.skipped)


def _report(role: str, data: PairData, scored: bool) -> FileReport:
    whole = _as_dataset(data)
    total = max(len(data.pairs), 1)
    return FileReport(
        role=role,
        path=data.path,
        format=data.format,
        text_column=whole.columns.text,
        label_column=data.columns.label,
        texts=len(data.pairs),
        distinct=len(same_texts(whole.examples)),
        empty=data.empty,
        skipped=data.skipped,
        words=measure([len(example.text.split()) for example in whole.examples]),
        classes=() if scored else tuple((label, n, n / total) for label, n in data.labels.items()),
        notes=data.notes,
    )
