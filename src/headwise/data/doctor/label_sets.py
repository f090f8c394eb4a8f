"""The doctor's checks of sets of labels."""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations

from headwise.data.diagnosis import Finding, some
from headwise.data.doctor.file import File

_TOGETHER = 5  # items from which labels that always stand together are told of
_BESIDE = 10  # items in which a label would stand beside others if it were one like them


def bare(file: File) -> Iterator[Finding]:
    """Items without a label."""
    found = [n for n, item in enumerate(file.items) if not item.labels]
    if found and file.data.labels:
        message = f"{file.count(len(found))} without a label ({len(found) / len(file.items):.1%})"
        fix = "that is an answer like others; if it means that nobody looked, remove them"
        yield Finding("info", "HW168", message, file.data.places(found), fix)


def everywhere(file: File) -> Iterator[Finding]:
    """Labels that all items have."""
    found = [repr(name) for name, n in file.data.labels.items() if n == len(file.items)]
    if found and file.training:
        message = f"all {file.kind.nouns.many} have {some(found)}"
        fix = "a model will give such a label to all; leave it out, or add some without it"
        yield Finding("warning", "HW162", message, (file.data.path,), fix)


def instead(file: File) -> Iterator[Finding]:
    """A label that says that there is none: it stands where no other does, and nowhere else."""
    if not file.training or not all(item.labels for item in file.items):
        return
    beside = {label for item in file.items if len(item.labels) > 1 for label in item.labels}
    several = sum(len(item.labels) > 1 for item in file.items)
    for name, n in file.data.labels.items():
        others = len(file.items) - n
        if name not in beside and several * n >= _BESIDE * others > 0:
            many = file.kind.nouns.many
            message = f"the label {name!r} ({n:,}) never stands beside another, and all {many} have a label"
            fix = (
                "if it says that there is none of the others, leave it out (an empty cell is an answer, "
                "too): as a label it may be predicted beside others, and micro F1 is mostly about it"
            )
            yield Finding("warning", "HW175", message, (file.data.path,), fix)


def together(file: File) -> Iterator[Finding]:
    """Labels that never stand without each other."""
    if not file.training:
        return
    counts, pairs = file.data.labels, Counter[tuple[str, str]]()
    for item in file.items:
        pairs.update(combinations(sorted(item.labels), 2))
    found = [
        f"{one!r} and {other!r} ({n:,})"
        for (one, other), n in pairs.most_common()
        if n >= _TOGETHER and n == counts[one] == counts[other] and n < len(file.items)
    ]
    if found:
        message = f"labels that never stand without each other: {some(found)}"
        fix = "they say the same; one of them is enough"
        yield Finding("info", "HW167", message, (file.data.path,), fix)
