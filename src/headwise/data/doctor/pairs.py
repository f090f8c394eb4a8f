"""The doctor's checks of pairs of texts."""

from collections.abc import Iterator, Mapping

from headwise.data.diagnosis import Finding
from headwise.data.doctor.file import File, pairs_of
from headwise.data.doctor.guesses import majority_share, one_sided_accuracy
from headwise.data.duplicates import normal_text

SHORTCUT = 0.1  # accuracy that one text alone may gain over the commonest label
_LEAST = 200  # least number of pairs to measure that
_MOST = 20_000  # pairs that it is measured on, at most


def half_empty(file: File) -> Iterator[Finding]:
    """Pairs with one empty text."""
    empty = [(not pair.first.strip(), not pair.second.strip()) for pair in file.items]
    incomplete = [n for n, (first, second) in enumerate(empty) if first != second]
    if incomplete:
        fix = "headwise keeps and counts them; fill them or remove the rows"
        message = f"{file.count(len(incomplete))} with an empty text"
        yield Finding("warning", "HW150", message, file.data.places(incomplete), fix)


def swapped(file: File) -> Iterator[Finding]:
    """Pairs that also occur in reversed order with another label."""
    labels: dict[tuple[str, str], str | None] = {}
    sides = [(normal_text(pair.first), normal_text(pair.second)) for pair in file.items]
    for key, pair in zip(sides, file.items, strict=True):
        labels.setdefault(key, pair.label)
    contradicted = [
        n
        for n, ((first, second), pair) in enumerate(zip(sides, file.items, strict=True))
        if first != second and (second, first) in labels and labels[second, first] != pair.label
    ]
    if contradicted:
        message = f"{file.count(len(contradicted))} with another label the other way round"
        fix = "right where the order matters (entailment), wrong where it does not (similarity)"
        yield Finding("info", "HW164", message, file.data.places(contradicted), fix)


def one_sided(file: File) -> Iterator[Finding]:
    """Labels that one of the two texts predicts alone."""
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
    """First texts of dev or test pairs that also occur in training pairs."""
    for first, second in pairs_of(files):
        if first.part == second.part:
            continue
        seen = {normal_text(pair.first) for pair in first.items}
        shared = [n for n, pair in enumerate(second.items) if normal_text(pair.first) in seen]
        if not shared:
            continue
        share = len(shared) / len(second.items)
        message = f"{second.count(len(shared))} of {second.role} ({share:.1%}) with a first text that "
        message += f"{first.role} has"
        fix = "scores hold for texts that were seen; split by the first text (headwise does) for new ones"
        yield Finding("info", "HW166", message, second.data.places(shared), fix)


def swapped_between(files: Mapping[str, File]) -> Iterator[Finding]:
    """Pairs of one file that occur in another in reversed order."""
    for first, second in pairs_of(files):
        if first.part == second.part:
            continue
        seen = {(normal_text(pair.second), normal_text(pair.first)) for pair in first.items}
        sides = [(normal_text(pair.first), normal_text(pair.second)) for pair in second.items]
        swaps = [n for n, key in enumerate(sides) if key in seen]
        if swaps:
            message = (
                f"{second.count(len(swaps))} of {second.role} also in {first.role}, the other way round"
            )
            fix = f"results on {second.role} will look too good: remove these rows from {first.role}"
            yield Finding("warning", "HW160", message, second.data.places(swaps), fix)
