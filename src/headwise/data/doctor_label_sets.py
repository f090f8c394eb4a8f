"""The doctor's look at files of texts with any number of labels."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from headwise.data.checks import RARE, SHOWN, check_file, count, places, some
from headwise.data.diagnosis import Diagnosis, FileReport, Finding
from headwise.data.doctor import file_report, read_files, sort_findings
from headwise.data.duplicates import same_texts
from headwise.data.errors import DataError
from headwise.data.label_flags import FlagColumns
from headwise.data.label_set import LabelSetData, label_sets
from headwise.data.label_set_files import DEFAULT, read_label_sets
from headwise.data.options import LabelSetOptions
from headwise.data.overlap import check_files

_OWN = {"HW155", "HW162"}
"""Findings on classes that are said otherwise of label sets."""

_TOGETHER = 5  # texts from which labels that always stand together are told of


def diagnose_label_sets(paths: Sequence[str], options: LabelSetOptions = DEFAULT) -> Diagnosis:
    """Read and examine files; what cannot be read becomes a finding."""
    known: list[str] = []  # columns of labels of the first file, which the others have too

    def read(path: str, errors: list[DataError]) -> LabelSetData:
        data = _read(path, options, errors, tuple(known))
        if not known and isinstance(data.columns, FlagColumns):
            known.extend(data.columns.flags)
        return data

    files, problems = read_files(paths, read)
    reports: list[FileReport] = []
    findings = [*problems]
    for role, data in files.items():
        words = [len(example.text.split()) for example in data.examples]
        reports.append(file_report(role, data, words))
        findings += [own for own in check_file(role, data, words) if own.code not in _OWN]
        findings += _check_sets(role, data)
    findings += _between(files)
    return Diagnosis(tuple(reports), sort_findings(findings))


def _read(
    path: str, options: LabelSetOptions, errors: list[DataError], known: Sequence[str]
) -> LabelSetData:
    try:
        return read_label_sets(path, options, errors.append, known=known)
    except DataError as error:
        if error.code != "HW105" or path == "-":
            raise
        errors[:] = [error]
    lenient = replace(options, encoding_errors="replace")
    return read_label_sets(path, lenient, errors.append, known=known)


def _between(files: Mapping[str, LabelSetData]) -> Iterator[Finding]:
    """Findings on several files; those on labels name no lines, as a text has no one label."""
    for finding in check_files(files):
        yield replace(finding, where=()) if finding.code == "HW161" else finding


def _check_sets(role: str, data: LabelSetData) -> Iterator[Finding]:
    sets, labels = label_sets(data.examples), data.labels
    if not labels:
        return  # said already
    lines = [example.line for example in data.examples]
    bare = [line for line, own in zip(lines, sets, strict=True) if not own]
    if bare:
        message = f"{count(len(bare), 'text')} without a label ({len(bare) / len(sets):.1%})"
        fix = "that is an answer like others; if it means that nobody looked, remove them"
        yield Finding("info", "HW168", message, places(data, bare), fix)
    if data.repeated:
        message = f"{count(len(data.repeated), 'text')} with a label twice or an empty place for one"
        fix = "headwise takes each label once and passes over empty ones"
        yield Finding("info", "HW169", message, places(data, data.repeated), fix)
    yield from _clashes(data)
    if not role.startswith("train"):
        return
    rare = [f"{name!r} ({n})" for name, n in labels.items() if n < RARE]
    if rare:
        message = f"{count(len(rare), 'label')} with fewer than {RARE} texts: {some(rare)}"
        fix = "add texts, merge them into other labels, or leave them out"
        yield Finding("warning", "HW155", message, (data.path,), fix)
    everywhere = [name for name, n in labels.items() if n == len(sets)]
    if everywhere:
        message = f"all texts have {some([repr(name) for name in everywhere])}"
        fix = "a model will give every text such a label; leave it out, or add texts without it"
        yield Finding("warning", "HW162", message, (data.path,), fix)
    yield from _together(data)


def _clashes(data: LabelSetData) -> Iterator[Finding]:
    """Equal texts with different sets."""
    sets = label_sets(data.examples)
    groups = [own for text, own in same_texts(data.examples).items() if len(own) > 1 and text]
    clashes = [own for own in groups if len({frozenset(sets[n]) for n in own}) > 1]
    if clashes:
        shown = [
            f"{data.path}:"
            + ", ".join(f"{data.examples[n].line} ({' + '.join(sets[n]) or 'no label'})" for n in own)
            for own in clashes[:SHOWN]
        ]
        if len(clashes) > SHOWN:
            shown.append(f"and {len(clashes) - SHOWN:,} more")
        message = f"{count(len(clashes), 'text')} with different labels in different places"
        fix = "decide for one set of labels each; no model can learn both"
        yield Finding("warning", "HW154", message, tuple(shown), fix)


def _together(data: LabelSetData) -> Iterator[Finding]:
    """Labels that never stand without each other."""
    counts = data.labels
    pairs: Counter[tuple[str, str]] = Counter()
    for own in label_sets(data.examples):
        pairs.update(combinations(sorted(own), 2))
    found = [
        f"{one!r} and {other!r} ({n:,})"
        for (one, other), n in pairs.most_common()
        if n >= _TOGETHER and n == counts[one] == counts[other] and n < len(data.examples)
    ]
    if found:
        message = f"labels that never stand without each other: {some(found)}"
        fix = "they say the same; one of them is enough"
        yield Finding("info", "HW167", message, (data.path,), fix)
