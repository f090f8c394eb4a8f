"""The doctor's search for words, characters and surface features of texts that nearly decide a label.

Such a trace may be legitimate, or an artefact of how the data were collected: a source's name in all texts
of one label, a mark that a form added, texts in lower case, or cut off. A model then learns the artefact
and little else, and its scores on texts with the same artefact mean nothing.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from math import sqrt
from typing import NamedTuple

import numpy as np

from headwise.data.diagnosis import Finding, abbreviate
from headwise.data.doctor.file import File
from headwise.data.doctor.forms import Forms

PRECISION = 0.95
"""Least share of the items with a trace that have the label (the lower end of a 95 % interval)."""
RECALL = 0.9
"""Least share of the items with the label that have the trace, and of the others that lack it (lower ends,
too)."""
_LEAST = 50  # least number of items with the label, and of items without it
_MOST = 20_000  # items that are searched, evenly over the file
_SHOWN = 3  # labels that have a finding of their own

_WORD = re.compile(r"\w+|[^\w\s]")
_Z = 1.96


class Trace(NamedTuple):
    """A feature that an item may have, or lack.

    `kind` is "word", "character", "first" or "last" (word of the text), or "form" (a surface feature),
    whose threshold `value` describes.
    """

    kind: str
    value: str
    lacking: bool = False

    def __str__(self) -> str:
        if self.kind == "form":
            return self.value
        places = {"first": "as the first word", "last": "at the end"}
        what = f"the character {self.value!r}" if self.kind == "character" else repr(self.value)
        where = f" {places[self.kind]}" if self.kind in places else ""
        return f"{'the lack of ' if self.lacking else ''}{what}{where}"


@dataclass(frozen=True)
class Leak:
    """A trace that nearly decides a label.

    Attributes:
        label: The label.
        trace: The trace.
        both: Items with the label and the trace.
        traced: Items with the trace.
        labelled: Items with the label.
    """

    label: str
    trace: Trace
    both: int
    traced: int
    labelled: int

    @property
    def precision(self) -> float:
        """The share of the items with the trace that have the label."""
        return self.both / self.traced

    @property
    def recall(self) -> float:
        """The share of the items with the label that have the trace."""
        return self.both / self.labelled


def leaks(file: File) -> Iterator[Finding]:
    """Words, characters and surface features that nearly decide a label of the training data."""
    if not file.training or len(file.data.labels) < 2:
        return
    label_leaks = find_leaks(file.texts, [item.labels for item in file.items])
    nouns = file.kind.nouns
    for leak in label_leaks[:_SHOWN]:
        without_label = leak.traced - leak.both
        message = (
            f"{leak.trace} in {leak.both:,} of {leak.labelled:,} {nouns.many} labelled {leak.label!r} "
            f"({leak.recall:.1%}), and in {without_label:,} without that label: it nearly decides the "
            f"label (precision {leak.precision:.1%})"
        )
        away = "make all of them alike in it" if leak.trace.kind == "form" else "take it out of all of them"
        fix = (
            f"if it is a trace of how the {nouns.many} were collected, {away}; else a model learns it and "
            f"little more, and fails where it is missing"
        )
        named = leak.trace.kind == "word" and leak.trace.value in words_of(leak.label)
        if named:
            fix = "the label's name has that word too, so it may be the nature of the thing; " + fix
        where = tuple(
            file.data.where(n)
            for n, item in islice(
                (entry for entry in enumerate(file.items) if leak.label in entry[1].labels), _SHOWN
            )
        )
        yield Finding("info" if named else "warning", "HW170", message, where, fix)
    if rest := label_leaks[_SHOWN:]:
        shown = abbreviate([f"{leak.trace} for {leak.label!r}" for leak in rest])
        message = f"{len(rest):,} more labels that one word, character or form nearly decides: {shown}"
        yield Finding("info", "HW170", message, (file.data.path,))


def find_leaks(texts: Sequence[str], labels: Sequence[Sequence[str]]) -> list[Leak]:
    """For each label the surest trace that nearly decides it, if there is one; the surest first.

    Args:
        texts: The items' texts.
        labels: The labels of each item.
    """
    step = -(-len(texts) // _MOST) or 1
    texts, labels = texts[::step], labels[::step]
    sizes = Counter(label for item_labels in labels for label in set(item_labels))
    frequent_labels = {label for label, size in sizes.items() if _LEAST <= size <= len(texts) - _LEAST}
    if not frequent_labels:
        return []
    total: Counter[Trace] = Counter()
    within: dict[str, Counter[Trace]] = {label: Counter() for label in frequent_labels}
    for text, item_labels in zip(texts, labels, strict=True):
        traces = traces_of(text)
        total.update(traces)
        for label in frequent_labels.intersection(item_labels):
            within[label].update(traces)
    best_leaks: list[tuple[float, Leak]] = []
    forms = Forms(texts)
    for label in frequent_labels:
        size, items = sizes[label], len(texts)
        best: tuple[float, Leak] | None = None
        cuts = forms.cuts(np.array([label in item_labels for item_labels in labels]))
        formed = (Leak(label, Trace("form", description), both, of, size) for description, both, of in cuts)
        for leak in chain(_candidates(label, within[label], total, size, items), formed):
            negatives, false_positives = items - size, leak.traced - leak.both
            sure = min(
                lower(leak.both, leak.traced) / PRECISION,
                lower(leak.both, size) / RECALL,
                lower(negatives - false_positives, negatives) / RECALL,
            )
            if sure >= 1 and (best is None or _order(sure, leak) > _order(*best)):
                best = sure, leak
        if best is not None:
            best_leaks.append(best)
    if len(sizes) == 2 and best_leaks:  # what decides one decides the other
        best_leaks = [
            max(best_leaks, key=lambda scored: (_order(*scored)[2:4], _order(*scored), scored[1].label))
        ]
    best_leaks.sort(key=lambda scored: (-round(scored[0], 3), scored[1].label))
    return [leak for _, leak in best_leaks]


def _candidates(
    label: str, within: Counter[Trace], total: Counter[Trace], size: int, items: int
) -> Iterator[Leak]:
    for trace, both in within.items():
        if both >= RECALL * size and both >= PRECISION * total[trace]:
            yield Leak(label, trace, both, total[trace], size)
    for trace, all_items in total.items():  # what nearly all others have, and these lack
        lacking = items - all_items
        both = size - within[trace]
        if lacking and both >= RECALL * size and both >= PRECISION * lacking:
            yield Leak(label, trace._replace(lacking=True), both, lacking, size)


def _order(sure: float, leak: Leak) -> tuple[float, int, bool, bool, int, int, str]:
    """A sort key of leaks, greatest for the best: the surer, then the one with fewer exceptions; of equal
    ones words and marks before surface features, and these before single letters, which most texts in
    capitals have; presence before absence; words before characters, and these before positions."""
    trace, exceptions = leak.trace, leak.traced + leak.labelled - 2 * leak.both
    formed, letter = trace.kind == "form", trace.kind == "character" and trace.value.isalpha()
    rank = ("letter", "form", "last", "first", "character", "word").index(
        "letter" if letter else trace.kind
    )
    value = "" if formed else trace.value  # of surface features the first comes first
    return round(sure, 3), -exceptions, rank > 1, not trace.lacking, rank, len(value), value


def words_of(text: str) -> list[str]:
    """The words and punctuation marks of a text, case and underscores aside."""
    return _WORD.findall(text.casefold().replace("_", " "))


def traces_of(text: str) -> set[Trace]:
    """The traces of a text: its words, its characters, and its first and its last word."""
    words = words_of(text)
    traces = {Trace("word", word) for word in words if word.isalnum() or len(word) > 1}
    traces.update(Trace("character", letter) for letter in set(text) if not letter.isspace())
    if words:
        traces |= {Trace("first", words[0]), Trace("last", words[-1])}
    return traces


def lower(hits: int, of: int) -> float:
    """The lower end of the 95 % Wilson interval of a proportion."""
    share, z_term = hits / of, _Z * _Z / of
    return (share + z_term / 2 - _Z * sqrt(share * (1 - share) / of + z_term / (4 * of))) / (1 + z_term)
