"""The doctor's checks of what only tagged sentences can have."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from headwise.data.diagnosis import SHOWN, Finding, beginning, count
from headwise.data.doctor.file import File
from headwise.scores.scheme_check import check_tags, detect_scheme
from headwise.scores.schemes import LETTERS

LONG = 512
"""Words of a sentence from which one may ask whether a blank line is missing."""

_FEW = 10  # spans of a type


def one_tag(file: File) -> Iterator[Finding]:
    """A file that has nothing to tell apart."""
    tags = file.data.labels
    if len(tags) == 1:
        severity = "error" if file.training else "warning"
        fix = "if another column holds the tags, name it with --tag-column"
        yield Finding(severity, "HW162", f"only the tag {next(iter(tags))!r}", (file.data.path,), fix)


def scheme(file: File) -> Iterator[Finding]:
    """The tag scheme, and what does not fit it."""
    data = file.data
    found = detect_scheme(own.tags for own in file.items)
    yield Finding("info", "HW253", f"tag scheme {found.scheme}: {found.reason}", (data.path,))
    wrong = [
        (n, problem.word, problem.found)
        for n, own in enumerate(file.items)
        for problem in check_tags(own.tags, found.scheme)
        # Reading has told of spans that go on where none has begun.
        if found.scheme != "iob2" or own.tags[problem.word][0] not in LETTERS["iob2"]
    ]
    if wrong:
        message = f"{count(len(wrong), 'tag')} that {found.scheme} does not allow, first {wrong[0][2]}"
        where = tuple(data.where(n, w) for n, w, _ in wrong[:SHOWN])
        yield Finding("warning", "HW253", message, where, f"correct {'them' if len(wrong) > 1 else 'it'}")


def torn(file: File) -> Iterator[Finding]:
    """Sentences that are tagged in several ways."""
    seen: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, own in enumerate(file.items):
        seen[own.tokens].append(number)
    found = [own for own in seen.values() if len({file.items[n].tags for n in own}) > 1]
    if found:
        first = beginning(file.kind.show(file.items[found[0][0]]))
        message = f"{file.count(len(found))} tagged in more than one way, first {first}"
        fix = "decide on one; a model cannot learn both"
        yield Finding("warning", "HW154", message, file.data.places(found[0]), fix)


def long(file: File) -> Iterator[Finding]:
    """Sentences that may be several."""
    found = [n for n, size in enumerate(file.sizes) if size > LONG]
    if found:
        message = f"{file.count(len(found))} of more than {LONG} words"
        fix = "if blank lines between sentences are missing, put them back; else nothing has to be done"
        yield Finding("info", "HW152", message, file.data.places(found), fix)


def few_spans(file: File) -> Iterator[Finding]:
    """Types of spans that can hardly be learnt."""
    found = [(kind, n) for kind, n in file.data.entities.items() if n < _FEW]
    if file.training and found:
        told = ", ".join(f"{kind or 'spans'} ({n})" for kind, n in found)
        fix = "tag more of them, or merge types; the scores of so few are mostly chance"
        yield Finding("warning", "HW155", f"types with few spans: {told}", (file.data.path,), fix)


def other_tags(files: Mapping[str, File]) -> Iterator[Finding]:
    """Schemes, types or tags that training does not have."""
    train = files.get("train")
    if train is None:
        return
    known = detect_scheme(own.tags for own in train.items).scheme
    for file in files.values():
        if file is train:
            continue
        own = detect_scheme(sentence.tags for sentence in file.items).scheme
        if own != known:
            message = f"the tags of {file.role} are in the scheme {own}, those of train in {known}"
            yield Finding("warning", "HW161", message, (file.data.path,), "spans are compared all the same")
        spans = bool(train.data.entities)
        theirs, ours = (data.entities if spans else data.labels for data in (file.data, train.data))
        strange = [kind for kind in theirs if kind not in ours]
        if strange:
            message = f"{file.role} has {', '.join(map(repr, strange[:8]))}, which train does not have"
            yield Finding("warning", "HW161", message, (file.data.path,), "no model can predict them")
