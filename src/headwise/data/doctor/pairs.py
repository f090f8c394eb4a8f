"""The doctor's checks of what only pairs of texts can have."""

from collections.abc import Iterator, Mapping

from headwise.data.diagnosis import Finding
from headwise.data.doctor.file import File, pairs_of
from headwise.data.doctor.guesses import majority_share, one_sided_accuracy
from headwise.data.duplicates import normal_text

SHORTCUT = 0.1  # how much more than the commonest label one text alone may tell
_LEAST = 200  # pairs from which that can be measured
_MOST = 20_000  # pairs that it is measured on


def half_empty(file: File) -> Iterator[Finding]:
    """Pairs of which one text is empty."""
    found = [n for n, own in enumerate(file.items) if bool(own.first.strip()) != bool(own.second.strip())]
    if found:
        fix = "headwise keeps and counts them; fill them or remove the rows"
        message = f"{file.count(len(found))} with an empty text"
        yield Finding("warning", "HW150", message, file.data.places(found), fix)


def swapped(file: File) -> Iterator[Finding]:
    """Pairs that also stand in the file the other way round, with another label."""
    labels: dict[tuple[str, str], str | None] = {}
    sides = [(normal_text(pair.first), normal_text(pair.second)) for pair in file.items]
    for own, pair in zip(sides, file.items, strict=True):
        labels.setdefault(own, pair.label)
    found = [
        n
        for n, ((one, other), pair) in enumerate(zip(sides, file.items, strict=True))
        if one != other and (other, one) in labels and labels[other, one] != pair.label
    ]
    if found:
        message = f"{file.count(len(found))} with another label the other way round"
        fix = "right where the order matters (entailment), wrong where it does not (similarity)"
        yield Finding("info", "HW164", message, file.data.places(found), fix)


def one_sided(file: File) -> Iterator[Finding]:
    """Labels that one of the two texts gives away."""
    pairs = [pair for pair in file.items if pair.label is not None][:_MOST]
    if len(pairs) < _LEAST or not file.kind.answer.classes:
        return
    labels = [pair.label for pair in pairs]
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
        yield Finding("warning", "HW165", message, (file.data.path,), fix)


def shared_firsts(files: Mapping[str, File]) -> Iterator[Finding]:
    """First texts of test or dev pairs that training has with other second texts."""
    for one, other in pairs_of(files):
        if one.part == other.part:
            continue
        seen = {normal_text(pair.first) for pair in one.items}
        found = [n for n, pair in enumerate(other.items) if normal_text(pair.first) in seen]
        if not found:
            continue
        share = len(found) / len(other.items)
        message = (
            f"{other.count(len(found))} of {other.role} ({share:.1%}) with a first text that {one.role} has"
        )
        fix = "scores hold for texts that were seen; split by the first text (headwise does) for new ones"
        yield Finding("info", "HW166", message, other.data.places(found), fix)


def swapped_between(files: Mapping[str, File]) -> Iterator[Finding]:
    """Pairs of one file that stand in another the other way round."""
    for one, other in pairs_of(files):
        if one.part == other.part:
            continue
        seen = {(normal_text(pair.second), normal_text(pair.first)) for pair in one.items}
        sides = [(normal_text(pair.first), normal_text(pair.second)) for pair in other.items]
        found = [n for n, own in enumerate(sides) if own in seen]
        if found:
            message = f"{other.count(len(found))} of {other.role} also in {one.role}, the other way round"
            fix = f"results on {other.role} will look too good: remove these rows from {one.role}"
            yield Finding("warning", "HW160", message, other.data.places(found), fix)
