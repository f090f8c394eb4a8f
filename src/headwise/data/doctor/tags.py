"""The doctor's checks of tagged sentences."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from headwise.data.diagnosis import SHOWN, Finding, beginning, count
from headwise.data.doctor.file import File
from headwise.scores.scheme_check import check_tags, detect_scheme
from headwise.scores.schemes import LETTERS

LONG = 512
"""Number of words above which a sentence may be several, with no blank line between them."""

_FEW = 10  # spans of a type


def one_tag(file: File) -> Iterator[Finding]:
    """A file with a single tag."""
    tags = file.data.labels
    if len(tags) == 1:
        severity = "error" if file.training else "warning"
        fix = "if another column holds the tags, name it with --tag-column"
        yield Finding(severity, "HW162", f"only the tag {next(iter(tags))!r}", (file.data.path,), fix)


def scheme(file: File) -> Iterator[Finding]:
    """The tag scheme, and tags that violate it."""
    data = file.data
    detected = detect_scheme(sentence.tags for sentence in file.items)
    yield Finding("info", "HW253", f"tag scheme {detected.scheme}: {detected.reason}", (data.path,))
    wrong = [
        (n, problem.word, problem.description)
        for n, sentence in enumerate(file.items)
        for problem in check_tags(sentence.tags, detected.scheme)
        # Reading has already reported spans that continue where none has begun.
        if detected.scheme != "iob2" or sentence.tags[problem.word][0] not in LETTERS["iob2"]
    ]
    if wrong:
        message = f"{count(len(wrong), 'tag')} that {detected.scheme} does not allow, first {wrong[0][2]}"
        where = tuple(data.where(n, w) for n, w, _ in wrong[:SHOWN])
        yield Finding("warning", "HW253", message, where, f"correct {'them' if len(wrong) > 1 else 'it'}")


def torn(file: File) -> Iterator[Finding]:
    """Sentences that occur with different tags."""
    seen: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, sentence in enumerate(file.items):
        seen[sentence.tokens].append(number)
    inconsistent = [numbers for numbers in seen.values() if len({file.items[n].tags for n in numbers}) > 1]
    if inconsistent:
        first = beginning(file.kind.show(file.items[inconsistent[0][0]]))
        message = f"{file.count(len(inconsistent))} tagged in more than one way, first {first}"
        fix = "decide on one; a model cannot learn both"
        yield Finding("warning", "HW154", message, file.data.places(inconsistent[0]), fix)


def long(file: File) -> Iterator[Finding]:
    """Sentences that may be several."""
    long_sentences = [n for n, size in enumerate(file.sizes) if size > LONG]
    if long_sentences:
        message = f"{file.count(len(long_sentences))} of more than {LONG} words"
        fix = "if blank lines between sentences are missing, put them back; else nothing has to be done"
        yield Finding("info", "HW152", message, file.data.places(long_sentences), fix)


def few_spans(file: File) -> Iterator[Finding]:
    """Span types with too few spans to learn."""
    rare_types = [(kind, n) for kind, n in file.data.entities.items() if n < _FEW]
    if file.training and rare_types:
        listed = ", ".join(f"{kind or 'spans'} ({n})" for kind, n in rare_types)
        fix = "tag more of them, or merge types; the scores of so few are mostly chance"
        yield Finding("warning", "HW155", f"types with few spans: {listed}", (file.data.path,), fix)


def other_tags(files: Mapping[str, File]) -> Iterator[Finding]:
    """Schemes, span types or tags that training lacks."""
    train = files.get("train")
    if train is None:
        return
    train_scheme = detect_scheme(sentence.tags for sentence in train.items).scheme
    for file in files.values():
        if file is train:
            continue
        file_scheme = detect_scheme(sentence.tags for sentence in file.items).scheme
        if file_scheme != train_scheme:
            message = (
                f"the tags of {file.role} are in the scheme {file_scheme}, those of train in {train_scheme}"
            )
            yield Finding("warning", "HW161", message, (file.data.path,), "spans are compared all the same")
        spans = bool(train.data.entities)
        theirs, ours = (data.entities if spans else data.labels for data in (file.data, train.data))
        strange = [kind for kind in theirs if kind not in ours]
        if strange:
            message = f"{file.role} has {', '.join(map(repr, strange[:8]))}, which train does not have"
            yield Finding("warning", "HW161", message, (file.data.path,), "no model can predict them")
