"""Texts with any number of labels, none included."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from headwise.data.dataset import Dataset
from headwise.data.example import Example
from headwise.data.fingerprint import Fingerprint, fingerprint
from headwise.data.options import SEPARATOR, LabelSetOptions


@dataclass(frozen=True, slots=True)
class LabelSetExample(Example):
    """One text with its labels, in the file's order, each once; `label` is None."""

    labels: tuple[str, ...] = ()  # pyright: ignore[reportIncompatibleMethodOverride]


LabelSetData = Dataset[Example]


def label_sets(examples: Sequence[Example]) -> list[tuple[str, ...]]:
    """The labels of each text."""
    return [example.labels for example in examples]


def set_fingerprint(examples: Sequence[Example]) -> Fingerprint:
    """Which data it was: the fingerprint of the texts with their labels, whose order does not matter, and
    how many texts have each label."""
    sets = label_sets(examples)
    pairs = zip(examples, sets, strict=True)
    joined = [Example(e.text, json.dumps(sorted(own)), e.line, e.heads) for e, own in pairs]
    counts = Counter(label for own in sets for label in own)
    return replace(fingerprint(joined), labels=dict(sorted(counts.items())))


def separator_for(options: LabelSetOptions, labels: Sequence[str]) -> str:
    """What a model writes between labels: what separates them in its training file, or, where that is
    not asked for and stands within a label, the first of a few others that do not."""
    asked = options.label_separator
    others = [asked] if asked else [SEPARATOR, ";", ",", "||", ";;"]
    free = [mark for mark in others if not any(mark in label for label in labels)]
    return (free or others)[0]
