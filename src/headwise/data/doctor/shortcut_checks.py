"""The doctor's search for words, characters and surface features of texts that nearly decide a label.

Such a trace may be legitimate, or an artifact of how the data were collected: a source's name in all texts
of one label, a mark that a form added, texts in lower case, or cut off. A model then learns the artifact
and little else, and its scores on texts with the same artifact mean nothing. For surface features (length,
capitals, line ends, ...) the best threshold is found. Of pairs, one text alone may predict the label
(`one_sided_accuracy`).
"""

import hashlib
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwise.core.lazy_pattern import lazy_pattern
from headwise.core.surface_features import describe_value, surface_features
from headwise.data.doctor.examined_file import CheckedFile
from headwise.data.findings import Finding, abbreviate
from headwise.data.splits.text_signatures import normal_text

PRECISION = 0.95
"""Least share of the items with a trace that have the label (the lower end of a 95 % interval)."""
RECALL = 0.9
"""Least share of the items with the label that have the trace, and of the others that lack it (lower ends,
too)."""
_LEAST = 50  # least number of items with the label, and of items without it
_MOST = 20_000  # items that are searched, evenly over the file
_SHOWN = 3  # labels that have a finding of their own

_WORD = lazy_pattern(r"\w+|[^\w\s]")
_Z = 1.96


class LeakFeature(NamedTuple):
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
    trace: LeakFeature
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


def leaks(file: CheckedFile) -> Iterator[Finding]:
    """Words, characters and surface features that nearly decide a label of the training data."""
    if not file.training or len(file.data.labels) < 2:
        return
    label_leaks = find_leaks(file.texts, [item.labels for item in file.items])
    nouns = file.item_type.nouns
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
        where = tuple(map(file.data.where, file.with_labels([leak.label])[:_SHOWN]))
        yield Finding("info" if named else "warning", "HW170", message, where, fix)
    if rest := label_leaks[_SHOWN:]:
        shown = abbreviate([f"{leak.trace} for {leak.label!r}" for leak in rest])
        message = f"{len(rest):,} more labels that one word, character or form nearly decides: {shown}"
        yield Finding("info", "HW170", message, (file.data.path,))


def find_leaks(texts: Sequence[str], labels: Sequence[Sequence[str]]) -> list[Leak]:
    """For each label the surest trace that nearly decides it, if there is one; the surest first."""
    step = -(-len(texts) // _MOST) or 1
    texts, labels = texts[::step], labels[::step]
    sizes = Counter(label for item_labels in labels for label in set(item_labels))
    frequent_labels = {label for label, size in sizes.items() if _LEAST <= size <= len(texts) - _LEAST}
    if not frequent_labels:
        return []
    total: Counter[LeakFeature] = Counter()
    within: dict[str, Counter[LeakFeature]] = {label: Counter() for label in frequent_labels}
    for text, item_labels in zip(texts, labels, strict=True):
        traces = traces_of(text)
        total.update(traces)
        for label in frequent_labels.intersection(item_labels):
            within[label].update(traces)
    best_leaks: list[tuple[float, Leak]] = []
    forms = SurfaceFeatureThresholds(texts)
    for label in frequent_labels:
        size, items = sizes[label], len(texts)
        best: tuple[float, Leak] | None = None
        cuts = forms.cuts(np.array([label in item_labels for item_labels in labels]))
        formed = (
            Leak(label, LeakFeature("form", description), both, of, size) for description, both, of in cuts
        )
        for leak in chain(_candidates(label, within[label], total, size, items), formed):
            negatives, false_positives = items - size, leak.traced - leak.both
            sure = min(
                wilson_lower_bound(leak.both, leak.traced) / PRECISION,
                wilson_lower_bound(leak.both, size) / RECALL,
                wilson_lower_bound(negatives - false_positives, negatives) / RECALL,
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
    label: str, within: Counter[LeakFeature], total: Counter[LeakFeature], size: int, items: int
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


def traces_of(text: str) -> set[LeakFeature]:
    """The traces of a text: its words, its characters, and its first and its last word."""
    words = words_of(text)
    traces = {LeakFeature("word", word) for word in words if word.isalnum() or len(word) > 1}
    traces.update(LeakFeature("character", letter) for letter in set(text) if not letter.isspace())
    if words:
        traces |= {LeakFeature("first", words[0]), LeakFeature("last", words[-1])}
    return traces


def wilson_lower_bound(hits: int, of: int) -> float:
    """The lower end of the 95 % Wilson interval of a proportion."""
    share, z_term = hits / of, _Z * _Z / of
    return (share + z_term / 2 - _Z * sqrt(share * (1 - share) / of + z_term / (4 * of))) / (1 + z_term)


class SurfaceFeatureThresholds:
    """Surface features of texts, each in sorted order."""

    def __init__(self, texts: Sequence[str]):
        numbers = surface_features(texts).T
        self._orders = np.argsort(numbers, axis=1, kind="stable")
        self._numbers = np.take_along_axis(numbers, self._orders, axis=1)

    def cuts(self, labelled: NDArray[np.bool_]) -> Iterator[tuple[str, int, int]]:
        """For each feature, the two sides (below, above) of the thresholds with the fewest exceptions: what
        the items there have in common, how many of them have the label, and how many they are."""
        size = int(labelled.sum())
        for number, (order, values) in enumerate(zip(self._orders, self._numbers, strict=True)):
            last = np.flatnonzero(values[1:] != values[:-1])
            if not len(last):
                continue
            below, both = last + 1, np.cumsum(labelled[order])[last]
            # Of the lower side; all other items are exceptions of the upper side.
            exceptions = below + size - 2 * both
            place, above_place = int(exceptions.argmin()), int(exceptions.argmax())
            at, then = float(values[last[place]]), float(values[last[above_place] + 1])
            yield describe_value(number, at, below=True), int(both[place]), int(below[place])
            above = len(order) - int(below[above_place])
            yield describe_value(number, then, below=False), size - int(both[above_place]), above


_FOLDS = 5
_SMOOTHING = 0.5


def one_sided_accuracy(texts: Sequence[str], labels: Sequence[str]) -> float:
    """Cross-validated accuracy of a naive Bayes classifier that sees only these texts; equal texts are in
    one fold.

    Returns:
        Between 0 and 1; 0 where there are no pairs.
    """
    words = [set(normal_text(text).split()) for text in texts]
    folds = [_fold(text) for text in texts]
    right = 0
    for fold in range(_FOLDS):
        train = [place for place, assigned in enumerate(folds) if assigned != fold]
        test = [place for place, assigned in enumerate(folds) if assigned == fold]
        if not train:
            continue
        classes = Counter(labels[place] for place in train)
        counts: dict[str, Counter[str]] = {label: Counter() for label in classes}
        for place in train:
            counts[labels[place]].update(words[place])
        vocabulary = set().union(*counts.values())
        prior = {label: math.log(number / len(train)) for label, number in classes.items()}
        for place in test:
            tokens = [word for word in words[place] if word in vocabulary]
            scores = {
                label: prior[label]
                + sum(
                    math.log((word_counts[word] + _SMOOTHING) / (classes[label] + 2 * _SMOOTHING))
                    for word in tokens
                )
                for label, word_counts in counts.items()
            }
            right += max(scores, key=lambda label: (scores[label], label)) == labels[place]
    return right / max(len(texts), 1)


def majority_accuracy(labels: Sequence[str]) -> float:
    """Share of the most frequent label; 0 where there are none."""
    return Counter(labels).most_common(1)[0][1] / len(labels) if labels else 0.0


def _fold(text: str) -> int:
    digest = hashlib.blake2b(normal_text(text).encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return int.from_bytes(digest, "big") % _FOLDS
