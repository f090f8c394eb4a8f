"""Labels of items: their names in a fixed order, and their numbers."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

_WHOLE = re.compile(r"(-?(?:0|[1-9]\d{0,14}))(?:\.0+)?")
"""Whole numbers as programs write them: those of a table in which one is missing become 1.0."""


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


def spelt_otherwise(labels: Iterable[str], known: Iterable[str]) -> dict[str, str]:
    """Labels that are not known, but are whole numbers that are known under another spelling (1.0 and 1),
    and that spelling; where both are known they are two labels."""
    known = set(known)
    spellings: dict[str, list[str]] = {}
    for name in known:
        if match := _WHOLE.fullmatch(name):
            spellings.setdefault(match[1], []).append(name)
    found = {}
    for label in set(labels) - known:
        match = _WHOLE.fullmatch(label)
        if match and len(own := spellings.get(match[1], [])) == 1:
            found[label] = own[0]
    return dict(sorted(found.items()))


def respelt(item: Any, names: Mapping[str, str]) -> Any:
    """An item with its labels under other names."""
    if names.keys().isdisjoint(item.labels) and getattr(item, "shares", None) is None:
        return item
    if item.label is None:
        return replace(item, labels=tuple(dict.fromkeys(names.get(own, own) for own in item.labels)))
    changed: dict[str, Any] = {"label": names.get(item.label, item.label)}
    if (shares := getattr(item, "shares", None)) is not None:
        changed["shares"] = replace(shares, labels=tuple(names.get(own, own) for own in shares.labels))
    return replace(item, **changed)


def all_labels(items: Sequence[Any]) -> list[str]:
    """The labels of items, also those that are likely for none of them; see `label_names`."""
    named = {own.labels for item in items if (own := getattr(item, "shares", None)) is not None}
    return label_names({*(item.label for item in items), *(label for own in named for label in own)})


def targets_of(items: Sequence[Any], labels: Sequence[str]) -> np.ndarray:
    """Label numbers of texts, pairs or bags, `[items]`."""
    number = {label: n for n, label in enumerate(labels)}
    return np.array([number[item.label or ""] for item in items], dtype=np.int64)


def indicators(items: Sequence[Any], labels: Sequence[str]) -> NDArray[np.bool_]:
    """Whether each text has each label, `[texts, labels]`. All labels of the texts must be among them."""
    number = {label: n for n, label in enumerate(labels)}
    found = np.zeros((len(items), len(labels)), dtype=np.bool_)
    for text, own in enumerate(items):
        found[text, [number[label] for label in own.labels]] = True
    return found
