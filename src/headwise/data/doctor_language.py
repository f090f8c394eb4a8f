"""The doctor's look at plain texts for language modelling."""

import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from headwise.data.archives import lines_of
from headwise.data.checks import count
from headwise.data.diagnosis import Diagnosis, FileReport, Finding, Names
from headwise.data.doctor import as_findings, guess_roles, measure, sort_findings
from headwise.data.errors import DataError
from headwise.data.files import without_returns
from headwise.data.stream_options import DEFAULT, StreamOptions
from headwise.data.streams import count_symbols

_FEW = 100_000  # characters of a training text from which on a model has something to learn from
_LONG = 60  # characters of a line from which on it does not stand in two texts by chance
_SHOWN = 8


def diagnose_language(paths: Sequence[str], options: StreamOptions = DEFAULT) -> Diagnosis:
    """Read and examine plain texts; what cannot be read becomes a finding."""
    reports: list[FileReport] = []
    findings: list[Finding] = []
    characters: dict[str, Counter[str]] = {}
    lines: dict[str, set[str]] = {}
    for role, path in zip(guess_roles(paths), paths, strict=True):
        try:
            characters[role] = count_symbols(path, "characters", options.encoding, options.encoding_errors)
            report, lines[role] = _report(role, path, options, characters[role])
            reports.append(report)
        except DataError as error:
            findings += as_findings([error])
            continue
        findings += _check_file(report, characters[role])
    findings += _check_files({report.role: report.path for report in reports}, characters, lines)
    return Diagnosis(tuple(reports), sort_findings(findings))


def _report(
    role: str, path: str, options: StreamOptions, characters: Counter[str]
) -> tuple[FileReport, set[str]]:
    """The facts, and the different lines."""
    words: list[int] = []
    seen: set[str] = set()
    for _, line in without_returns(lines_of(path, options.encoding, options.encoding_errors)):
        words.append(len(line.split()))
        seen.add(line)
    total = characters.total()
    report = FileReport(
        role=role,
        path=path,
        format="plain text",
        text_column="all",
        label_column=None,
        texts=len(words),
        distinct=len(seen),
        empty=sum(n == 0 for n in words),
        skipped=0,
        words=measure(words),
        classes=tuple((repr(name), n, n / total) for name, n in characters.most_common()),
        notes=(f"{total:,} characters, {len(characters):,} different",),
        names=Names("lines", "words", "", "character"),
    )
    return report, seen


def _check_file(report: FileReport, characters: Counter[str]) -> Iterator[Finding]:
    total = characters.total()
    if report.role.startswith("train") and total < _FEW:
        message = f"{total:,} characters are few to learn a language from"
        yield Finding("warning", "HW151", message, (report.path,), f"give some {_FEW:,} or more")
    control = {c: n for c, n in characters.items() if unicodedata.category(c) == "Cc" and c not in "\n\t"}
    if control:
        message = f"{count(sum(control.values()), 'control character')}: {_named(control)}"
        yield Finding(
            "warning", "HW157", message, (report.path,), "remove them, or the model will write them"
        )
    if broken := characters["\ufffd"]:
        message = f"{count(broken, 'character')} U+FFFD, which stand for bytes that could not be decoded"
        yield Finding("warning", "HW159", message, (report.path,), "give the file's own --encoding")


def _check_files(
    paths: Mapping[str, str], characters: Mapping[str, Counter[str]], lines: Mapping[str, set[str]]
) -> Iterator[Finding]:
    """What the other files have that training has, or has not."""
    training = next((role for role in paths if role.startswith("train")), None)
    if training is None:
        return
    for role, path in paths.items():
        if role == training:
            continue
        new = {c: n for c, n in characters[role].items() if c not in characters[training]}
        if new:
            message = f"{role} has {count(len(new), 'character')} that training lacks: {_named(new)}"
            fix = "they count as unknown; --language.unit bytes knows all"
            yield Finding("info", "HW280", message, (path,), fix)
        both = [line for line in lines[role] & lines[training] if len(line) >= _LONG]
        if both:
            message = (
                f"{count(len(both), 'long line')} of {role} also in training, such as {both[0][:60]!r}"
            )
            fix = "leave them out of one; scores on texts that were learned are too good"
            yield Finding("warning", "HW160", message, (path,), fix)


def _named(found: Mapping[str, int]) -> str:
    names = [f"{name!r} ({n:,})" for name, n in sorted(found.items(), key=lambda own: -own[1])]
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more:,} more" if more > 0 else "")
