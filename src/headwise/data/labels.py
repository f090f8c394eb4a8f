"""Labels of items: their names in a fixed order, and their numbers."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


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
