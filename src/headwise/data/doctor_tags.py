"""The doctor's look at files of tagged sentences."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from headwise.data.checks import count
from headwise.data.columns import Columns
from headwise.data.dataset import Dataset
from headwise.data.diagnosis import Diagnosis, FileReport, Finding
from headwise.data.doctor import measure, read_files, sort_findings
from headwise.data.duplicates import same_texts
from headwise.data.errors import DataError
from headwise.data.example import Example
from headwise.data.overlap import check_files
from headwise.data.tag_options import DEFAULT, TagOptions
from headwise.data.tagged import TaggedData, read_tagged
from headwise.scores.scheme_check import check_tags, detect_scheme

LONG = 512
"""Words of a sentence from which one may ask whether a blank line is missing."""

_SHOWN = 5  # places


def diagnose_tagged(paths: Sequence[str], options: TagOptions = DEFAULT) -> Diagnosis:
    """Read and examine files of tagged sentences; what cannot be read becomes a finding."""
    files, problems = read_files(paths, lambda path, errors: _read(path, options, errors))
    findings = [*problems]
    for role, data in files.items():
        findings += data.findings
        findings += _check_file(role, data)
    findings += _between(files)
    return Diagnosis(tuple(_report(*item) for item in files.items()), sort_findings(findings))


def _read(path: str, options: TagOptions, errors: list[DataError]) -> TaggedData:
    try:
        return read_tagged(path, options, errors.append)
    except DataError as error:
        if error.code != "HW105" or path == "-":
            raise
        errors[:] = [error]
    return read_tagged(path, replace(options, encoding_errors="replace"), errors.append)


def _check_file(role: str, data: TaggedData) -> Iterator[Finding]:
    if len(data.tags) == 1:
        yield Finding(
            "error" if role.startswith("train") else "warning",
            "HW162",
            f"only the tag {next(iter(data.tags))!r}",
            (data.path,),
            "if another column holds the tags, name it with --tag-column",
        )
    yield from _scheme(data)
    yield from _repeated(data)
    long = [n for n, own in enumerate(data.sentences) if len(own.tokens) > LONG]
    if long:
        message = f"{count(len(long), 'sentence')} of more than {LONG} words"
        where = tuple(data.where(n) for n in long[:_SHOWN])
        fix = "if blank lines between sentences are missing, put them back; else nothing has to be done"
        yield Finding("info", "HW152", message, where, fix)
    rare = [(kind, n) for kind, n in data.entities.items() if n < 10]
    if role.startswith("train") and rare:
        told = ", ".join(f"{kind or 'spans'} ({n})" for kind, n in rare)
        fix = "tag more of them, or merge types; the scores of so few are mostly chance"
        yield Finding("warning", "HW155", f"types with few spans: {told}", (data.path,), fix)


def _scheme(data: TaggedData) -> Iterator[Finding]:
    """The tag scheme, and what does not fit it."""
    found = detect_scheme(own.tags for own in data.sentences)
    yield Finding("info", "HW253", f"tag scheme {found.scheme}: {found.reason}", (data.path,))
    if found.scheme in ("plain", "iob2"):  # reading has told what does not fit iob2
        return
    wrong = [
        (n, problem.word, problem.found)
        for n, own in enumerate(data.sentences)
        for problem in check_tags(own.tags, found.scheme)
    ]
    if wrong:
        message = f"{count(len(wrong), 'tag')} that {found.scheme} does not allow, first {wrong[0][2]}"
        where = tuple(data.where(n, w) for n, w, _ in wrong[:_SHOWN])
        yield Finding("warning", "HW253", message, where, f"correct {'them' if len(wrong) > 1 else 'it'}")


def _repeated(data: TaggedData) -> Iterator[Finding]:
    """Sentences that occur more than once, and those that are tagged in two ways."""
    seen: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, own in enumerate(data.sentences):
        seen[own.tokens].append(number)
    again = [numbers for numbers in seen.values() if len(numbers) > 1]
    torn = [own for own in again if len({data.sentences[n].tags for n in own}) > 1]
    if torn:
        message = f"{count(len(torn), 'sentence')} tagged in more than one way"
        where = tuple(data.where(n) for n in torn[0][:_SHOWN])
        yield Finding("warning", "HW154", message, where, "decide on one; a model cannot learn both")
    if again:
        extra = sum(len(own) - 1 for own in again)
        where = tuple(data.where(own[1]) for own in again[:_SHOWN])
        yield Finding("info", "HW153", f"{count(extra, 'repeated sentence')}", where)


def _between(files: Mapping[str, TaggedData]) -> Iterator[Finding]:
    yield from check_files({role: _as_dataset(data) for role, data in files.items()})
    train = files.get("train")
    if train is None:
        return
    scheme = detect_scheme(own.tags for own in train.sentences).scheme
    for role, data in files.items():
        if data is train:
            continue
        own = detect_scheme(sentence.tags for sentence in data.sentences).scheme
        if own != scheme:
            message = f"the tags of {role} are in the scheme {own}, those of train in {scheme}"
            yield Finding("warning", "HW161", message, (data.path,), "spans are compared all the same")
        kinds = (data.entities, train.entities) if train.entities else (data.tags, train.tags)
        strange = [kind for kind in kinds[0] if kind not in kinds[1]]
        if strange:
            message = f"{role} has {', '.join(map(repr, strange[:8]))}, which train does not have"
            yield Finding("warning", "HW161", message, (data.path,), "no model can predict them")


def _as_dataset(data: TaggedData) -> Dataset:
    examples = [Example(" ".join(own.tokens), None, own.line) for own in data.sentences]
    return Dataset(examples, data.path, data.format, Columns(data.columns.token, None))


def _report(role: str, data: TaggedData) -> FileReport:
    counts = data.entities or data.tags
    total = sum(counts.values())
    return FileReport(
        role=role,
        path=data.path,
        format=data.format,
        text_column=data.columns.token,
        label_column=data.columns.tag,
        texts=len(data.sentences),
        distinct=len(same_texts(_as_dataset(data).examples)),
        empty=0,
        skipped=data.skipped,
        words=measure([len(own.tokens) for own in data.sentences]),
        classes=tuple((kind or "span", n, n / total) for kind, n in counts.items()),
        notes=data.notes,
    )
