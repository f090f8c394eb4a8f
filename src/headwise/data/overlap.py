"""The doctor's checks between files: leaks from one to the other, and labels that do not match."""

import difflib
from collections.abc import Iterator, Mapping
from itertools import combinations

from headwise.data.checks import count, places
from headwise.data.dataset import Dataset
from headwise.data.diagnosis import Finding
from headwise.data.duplicates import same_texts


def check_files(datasets: Mapping[str, Dataset]) -> Iterator[Finding]:
    """All findings that take two files; roles are "train", "dev", "test", perhaps with a number."""
    yield from _shared_texts(datasets)
    yield from _strange_labels(datasets)


def _shared_texts(datasets: Mapping[str, Dataset]) -> Iterator[Finding]:
    texts = {role: same_texts(data.examples) for role, data in datasets.items()}
    for one, other in combinations(datasets, 2):
        distinct = texts[other].keys() - {""}
        shared = distinct & texts[one].keys()
        if not shared:
            continue
        data = datasets[other]
        rows = sorted(index for text in shared for index in texts[other][text])
        message = (
            f"{count(len(shared), 'distinct text')} of {other} also in {one} "
            f"({len(shared) / len(distinct):.1%} of its texts)"
        )
        same = one.split()[0] == other.split()[0]
        fix = (
            "remove one of the two"
            if same
            else f"results on {other} will look too good: remove these rows from {one}"
        )
        where = places(data, (data.examples[row].line for row in rows))
        yield Finding("info" if same else "warning", "HW160", message, where, fix)


def _strange_labels(datasets: Mapping[str, Dataset]) -> Iterator[Finding]:
    known = {label for role, data in datasets.items() if role.startswith("train") for label in data.labels}
    if not known:
        return
    for role, data in datasets.items():
        for label, times in data.labels.items():
            if label in known:
                continue
            close = difflib.get_close_matches(label, known, n=1, cutoff=0.4)
            message = f"{count(times, 'text')} of {role} with the label {label!r}, unseen in train"
            fix = f"write {close[0]!r} if that is meant" if close else "add such texts to train"
            lines = (example.line for example in data.examples if example.label == label)
            yield Finding("error", "HW161", message, places(data, lines), fix)
