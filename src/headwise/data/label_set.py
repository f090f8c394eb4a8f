"""Texts with any number of labels, including none."""

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
    """The separator that a model writes between labels: the one in the options, or the one `read` from its
    training file; without these, the first of the usual ones that no label contains."""
    requested = options.label_separator or read
    candidates = [requested] if requested else [SEPARATOR, ";", ",", "||", ";;"]
    free = [mark for mark in candidates if not any(mark in label for label in labels)]
    return (free or candidates)[0]


def separator_in(data: Any) -> str:
    """A separator for writing the label sets of a file, which may have a column for each label."""
    labels = {label for item in data.items for label in item.labels}
    return separator_for(LabelSetOptions(), sorted(labels), getattr(data.columns, "separator", None))
