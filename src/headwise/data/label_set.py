"""Texts with any number of labels, none included."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from headwise.data.example import Example
from headwise.data.options import SEPARATOR, LabelSetOptions


@dataclass(frozen=True, slots=True)
class LabelSetExample(Example):
    """One text with its labels, in the file's order, each once; `label` is None."""

    labels: tuple[str, ...] = ()  # pyright: ignore[reportIncompatibleMethodOverride]


def separator_for(options: LabelSetOptions, labels: Sequence[str], read: str | None = None) -> str:
    """What a model writes between labels: what separates them in its training file (asked for, or `read`),
    or, where that stands within a label, the first of a few others that do not."""
    asked = options.label_separator or read
    others = [asked] if asked else [SEPARATOR, ";", ",", "||", ";;"]
    free = [mark for mark in others if not any(mark in label for label in labels)]
    return (free or others)[0]


def separator_in(data: Any) -> str:
    """What separates labels where a file's sets are written down, which was read with a cell or a column of
    its own for each label."""
    labels = {label for item in data.items for label in item.labels}
    return separator_for(LabelSetOptions(), sorted(labels), getattr(data.columns, "separator", None))
