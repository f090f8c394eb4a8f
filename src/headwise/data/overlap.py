"""The doctor's checks between files: leaks from one to the other, and labels that do not match."""

import difflib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

from headwise.data.checks import count, places
from headwise.data.dataset import Dataset
from headwise.data.diagnosis import Finding
from headwise.data.duplicates import normal_text, same_texts


@dataclass(frozen=True)
class Overlap:
    """What two parts of the data have in common.

    Attributes:
        one: The part that was there first: "train" or "dev".
        other: The part whose scores it makes too good.
        distinct: How many different items both have (case and white space aside).
        items: How many items of `other` these are.
        total: How many items `other` has.
    """

    one: str
    other: str
    distinct: int
    items: int
    total: int

    @property
    def share(self) -> float:
        """The share of the items of `other` that `one` has too."""
        return self.items / max(self.total, 1)

    def to_json(self) -> dict[str, Any]:
        """A JSON object of the same fields."""
        return asdict(self)


def overlaps(kind: Any, parts: Mapping[str, Any]) -> tuple[Overlap, ...]:
    """The overlaps of parts that have any; empty texts are not counted.

    Args:
        kind: The `headwise.data.kind.Kind` of the items.
        parts: The items of each part, by its name, in the order train, dev, test.
    """
    if not kind.has_keys:
        return ()
    keys = {name: Counter(normal_text(kind.key(item)) for item in part) for name, part in parts.items()}
    found = []
    for one, other in combinations(keys, 2):
        shared = (keys[one].keys() & keys[other].keys()) - {""}
        if shared:
            times = sum(keys[other][key] for key in shared)
            found.append(Overlap(one, other, len(shared), times, keys[other].total()))
    return tuple(found)


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
