"""The doctor's search for words, characters and forms of texts that nearly decide a label.

Such a one may be the nature of the thing, or a trace of how the data were collected: a source's name in
all texts of one label, a mark that a form added, texts in lower case, or cut off. A model then learns the
trace and little else, and its scores on texts that have the trace as well mean nothing.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from math import sqrt
from typing import NamedTuple

import numpy as np

from headwise.data.diagnosis import Finding, some
from headwise.data.doctor.file import File
from headwise.data.doctor.forms import Forms

PRECISION = 0.95
"""Of the items with a trace so many have the label, at least (the lower end of a 95 % interval)."""
RECALL = 0.9
"""Of the items with the label so many have the trace, and of the others so many have it not (likewise)."""
_LEAST = 50  # items with the label, and without it, from which this can be told
_MOST = 20_000  # items that are looked at, evenly over the file
_SHOWN = 3  # labels told one by one

_WORD = re.compile(r"\w+|[^\w\s]")
_Z = 1.96


class Trace(NamedTuple):
    """What an item may have, or lack.

    `kind` is "word", "character", "first" or "last" (word of the text), or "form", of which `value` says
    the number and its cut.
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
    """Words, characters and forms that nearly decide a label of the training data."""
    if not file.training or len(file.data.labels) < 2:
        return
    found = find_leaks(file.texts, [item.labels for item in file.items])
    nouns = file.kind.nouns
    for leak in found[:_SHOWN]:
        others = leak.traced - leak.both
        message = (
            f"{leak.trace} in {leak.both:,} of {leak.labelled:,} {nouns.many} labelled {leak.label!r} "
            f"({leak.recall:.1%}), and in {others:,} without that label: it nearly decides the label "
            f"(precision {leak.precision:.1%})"
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
                (own for own in enumerate(file.items) if leak.label in own[1].labels), _SHOWN
            )
        )
        yield Finding("info" if named else "warning", "HW170", message, where, fix)
    if rest := found[_SHOWN:]:
        shown = some([f"{leak.trace} for {leak.label!r}" for leak in rest])
        message = f"{len(rest):,} more labels that one word, character or form nearly decides: {shown}"
        yield Finding("info", "HW170", message, (file.data.path,))


def find_leaks(texts: Sequence[str], labels: Sequence[Sequence[str]]) -> list[Leak]:
    """For each label the surest of the traces that nearly decide it, if there is one; the surest first.

    Args:
        texts: The items' texts.
        labels: The labels of each.
    """
    step = -(-len(texts) // _MOST) or 1
    texts, labels = texts[::step], labels[::step]
    sizes = Counter(label for own in labels for label in set(own))
    known = {label for label, size in sizes.items() if _LEAST <= size <= len(texts) - _LEAST}
    if not known:
        return []
    total: Counter[Trace] = Counter()
    within: dict[str, Counter[Trace]] = {label: Counter() for label in known}
    for text, own in zip(texts, labels, strict=True):
        traces = traces_of(text)
        total.update(traces)
        for label in known.intersection(own):
            within[label].update(traces)
    found: list[tuple[float, Leak]] = []
    forms = Forms(texts)
    for label in known:
        size, items = sizes[label], len(texts)
        best: tuple[float, Leak] | None = None
        cuts = forms.cuts(np.array([label in own for own in labels]))
        formed = (Leak(label, Trace("form", said), both, of, size) for said, both, of in cuts)
        for leak in chain(_candidates(label, within[label], total, size, items), formed):
            others, theirs = items - size, leak.traced - leak.both
            sure = min(
                lower(leak.both, leak.traced) / PRECISION,
                lower(leak.both, size) / RECALL,
                lower(others - theirs, others) / RECALL,
            )
            if sure >= 1 and (best is None or _order(sure, leak) > _order(*best)):
                best = sure, leak
        if best is not None:
            found.append(best)
    if len(sizes) == 2 and found:  # what decides one decides the other
        found = [max(found, key=lambda own: (_order(*own)[2:4], _order(*own), own[1].label))]
    return [leak for _, leak in sorted(found, key=lambda own: (-round(own[0], 3), own[1].label))]


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
    """The surer comes first, then what has fewer exceptions; of equal ones words and marks before forms,
    and these before single letters, which most texts in capitals have; what is there before what is
    lacking; words before characters, these before places."""
    trace, exceptions = leak.trace, leak.traced + leak.labelled - 2 * leak.both
    formed, letter = trace.kind == "form", trace.kind == "character" and trace.value.isalpha()
    rank = ("letter", "form", "last", "first", "character", "word").index(
        "letter" if letter else trace.kind
    )
    value = "" if formed else trace.value  # of forms the first comes first
    return round(sure, 3), -exceptions, rank > 1, not trace.lacking, rank, len(value), value


def words_of(text: str) -> list[str]:
    """The words and punctuation marks of a text, case and underscores aside."""
    return _WORD.findall(text.casefold().replace("_", " "))


def traces_of(text: str) -> set[Trace]:
    """The words and characters of a text, and its first and its last word."""
    words = words_of(text)
    found = {Trace("word", word) for word in words if word.isalnum() or len(word) > 1}
    found.update(Trace("character", letter) for letter in set(text) if not letter.isspace())
    if words:
        found |= {Trace("first", words[0]), Trace("last", words[-1])}
    return found


def lower(hits: int, of: int) -> float:
    """The lower end of the 95 % interval of a share (Wilson)."""
    share, own = hits / of, _Z * _Z / of
    return (share + own / 2 - _Z * sqrt(share * (1 - share) / of + own / (4 * of))) / (1 + own)
