"""The doctor's checks of sets of labels."""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations

from headwise.data.diagnosis import Finding, abbreviate
from headwise.data.doctor.file import File

_TOGETHER = 5  # least number of items with labels that always occur together
_BESIDE = 10  # multi-label items expected to have a label, from which on having none is odd


def bare(file: File) -> Iterator[Finding]:
    """Items without labels."""
    unlabelled = [n for n, item in enumerate(file.items) if not item.labels]
    if unlabelled and file.data.labels:
        message = f"{file.count(len(unlabelled))} without a label ({len(unlabelled) / len(file.items):.1%})"
        fix = "that is an answer like others; if it means that nobody looked, remove them"
        yield Finding("info", "HW168", message, file.data.places(unlabelled), fix)


def everywhere(file: File) -> Iterator[Finding]:
    """Labels that all items have."""
    labels = [repr(name) for name, n in file.data.labels.items() if n == len(file.items)]
    if labels and file.training:
        message = f"all {file.kind.nouns.many} have {abbreviate(labels)}"
        fix = "a model will give such a label to all; leave it out, or add some without it"
        yield Finding("warning", "HW162", message, (file.data.path,), fix)


def instead(file: File) -> Iterator[Finding]:
    """A label that means "no label": it never occurs with another, and all items have a label."""
    if not file.training or not all(item.labels for item in file.items):
        return
    cooccurring = {label for item in file.items if len(item.labels) > 1 for label in item.labels}
    multi_labelled = sum(len(item.labels) > 1 for item in file.items)
    for name, n in file.data.labels.items():
        without_label = len(file.items) - n
        if name not in cooccurring and multi_labelled * n >= _BESIDE * without_label > 0:
            many = file.kind.nouns.many
            message = f"the label {name!r} ({n:,}) never stands beside another, and all {many} have a label"
            fix = (
                "if it says that there is none of the others, leave it out (an empty cell is an answer, "
                "too): as a label it may be predicted beside others, and micro F1 is mostly about it"
            )
            yield Finding("warning", "HW175", message, (file.data.path,), fix)


def together(file: File) -> Iterator[Finding]:
    """Labels that never occur without each other."""
    if not file.training:
        return
    counts, pairs = file.data.labels, Counter[tuple[str, str]]()
    for item in file.items:
        pairs.update(combinations(sorted(item.labels), 2))
    inseparable = [
        f"{first!r} and {second!r} ({n:,})"
        for (first, second), n in pairs.most_common()
        if n >= _TOGETHER and n == counts[first] == counts[second] and n < len(file.items)
    ]
    if inseparable:
        message = f"labels that never stand without each other: {abbreviate(inseparable)}"
        fix = "they say the same; one of them is enough"
        yield Finding("info", "HW167", message, (file.data.path,), fix)
