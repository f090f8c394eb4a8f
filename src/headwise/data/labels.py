"""The labels of items: their order, spelling and indices."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

_WHOLE = re.compile(r"(-?(?:0|[1-9]\d{0,14}))(?:\.0+)?")
"""Whole numbers as programs write them; in a column with a missing value 1 becomes 1.0."""


def label_names(names: Iterable[str]) -> list[str]:
    """Labels, each once, in a fixed order: numbers by value, names by alphabet."""
    return sorted(
        set(names), key=lambda name: (not _is_number(name), float(name) if _is_number(name) else 0.0, name)
    )


def _is_number(name: str) -> bool:
    try:
        return float(name) == float(name)
    except ValueError:
        return False


def spelt_otherwise(labels: Iterable[str], training_labels: Iterable[str]) -> dict[str, str]:
    """The training spelling of labels that are whole numbers and spelt otherwise (`1.0` and `1`), by label.
    Labels that training spells in several ways are left out."""
    training_labels = set(training_labels)
    spellings: dict[str, list[str]] = {}
    for name in training_labels:
        if match := _WHOLE.fullmatch(name):
            spellings.setdefault(match[1], []).append(name)
    spelling_of = {}
    for label in set(labels) - training_labels:
        match = _WHOLE.fullmatch(label)
        if match and len(candidates := spellings.get(match[1], [])) == 1:
            spelling_of[label] = candidates[0]
    return dict(sorted(spelling_of.items()))


def respelt(item: Any, names: Mapping[str, str]) -> Any:
    """An item with its labels renamed."""
    if names.keys().isdisjoint(item.labels) and getattr(item, "shares", None) is None:
        return item
    if item.label is None:
        return replace(item, labels=tuple(dict.fromkeys(names.get(label, label) for label in item.labels)))
    changed: dict[str, Any] = {"label": names.get(item.label, item.label)}
    if (shares := getattr(item, "shares", None)) is not None:
        changed["shares"] = replace(
            shares, labels=tuple(names.get(label, label) for label in shares.labels)
        )
    return replace(item, **changed)


def all_labels(items: Sequence[Any]) -> list[str]:
    """The labels of items, in the order of `label_names`, including soft labels that are the likeliest for
    none of them."""
    named = {shares.labels for item in items if (shares := getattr(item, "shares", None)) is not None}
    return label_names({*(item.label for item in items), *(label for labels in named for label in labels)})


def targets_of(items: Sequence[Any], labels: Sequence[str]) -> np.ndarray:
    """The index of the label of each text, pair or bag, `[items]`."""
    number = {label: n for n, label in enumerate(labels)}
    return np.array([number[item.label or ""] for item in items], dtype=np.int64)


def indicators(items: Sequence[Any], labels: Sequence[str]) -> NDArray[np.bool_]:
    """Multi-hot labels: whether each text has each label, `[texts, labels]`. `labels` must include all
    labels of the texts."""
    number = {label: n for n, label in enumerate(labels)}
    matrix = np.zeros((len(items), len(labels)), dtype=np.bool_)
    for text, item in enumerate(items):
        matrix[text, [number[label] for label in item.labels]] = True
    return matrix
