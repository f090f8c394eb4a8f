"""Soft labels (label probabilities from a teacher model or several annotators) and training weights."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from headwise.data.errors import DataError
from headwise.data.items.batching import items_at
from headwise.data.items.labels import LabelledItem, label_targets

T = TypeVar("T")
Floats = NDArray[np.float32]
TOLERANCE = 0.02
"""Largest deviation from 1 of a sum of probabilities, which allows for rounding in files."""


@dataclass(frozen=True, slots=True, eq=False)
class SoftLabel:
    """A soft label: the probabilities of some labels. The labels not listed share the rest evenly.

    Attributes:
        labels: Label names; the texts of a file share one tuple.
        values: The probability of each label, `[labels]`.
    """

    labels: tuple[str, ...]
    values: Floats

    @property
    def likeliest(self) -> str:
        """The label with the highest probability; of equal ones the first."""
        return self.labels[int(self.values.argmax())]


def soft_targets(items: Sequence[LabelledItem], labels: Sequence[str]) -> Floats | None:
    """The soft targets, `[items, labels]`, whose rows sum to 1; None if no item has a soft label.

    Args:
        items: The items, with attributes `label` and `shares`. All labels must be among `labels`.
        labels: The names of the columns.
    """
    if all(getattr(item, "shares", None) is None for item in items):
        return None
    number = {label: n for n, label in enumerate(labels)}
    places: dict[tuple[str, ...], list[int]] = {}
    probabilities = np.zeros((len(items), len(labels)), dtype=np.float32)
    for row, item in enumerate(items):
        if (soft_label := getattr(item, "shares", None)) is None:
            probabilities[row, number[item.label or ""]] = 1
            continue
        columns = places.setdefault(soft_label.labels, [number[label] for label in soft_label.labels])
        remaining = len(labels) - len(columns)
        if remaining:
            probabilities[row] = max(0.0, 1.0 - float(soft_label.values.sum())) / remaining
        probabilities[row, columns] = soft_label.values
    return probabilities / probabilities.sum(axis=1, keepdims=True)


def classification_targets(items: Sequence[LabelledItem], labels: Sequence[str]) -> NDArray:
    """The targets of items: probabilities (see `soft_targets`) if any label is soft, otherwise label
    numbers (see `headwise.metrics.classification_scores`)."""
    probabilities = soft_targets(items, labels)
    return label_targets(items, labels) if probabilities is None else probabilities


def low_confidence_items(items: Sequence[LabelledItem], labels: int) -> list[int]:
    """The numbers of the items whose label has a confidence below `1 / labels`.

    Every other label of such an item is more probable, so the model learns another label for it.

    Args:
        items: The items, with attributes `label` and `shares`.
        labels: The number of labels.
    """
    numbers = []
    for number, item in enumerate(items):
        soft_label = getattr(item, "shares", None)
        if (
            soft_label is not None
            and soft_label.labels == (item.label,)
            and soft_label.values[0] * labels < 1
        ):
            numbers.append(number)
    return numbers


def training_weights(items: Iterable[object]) -> Floats | None:
    """The training weights, `[items]`, scaled to a mean of 1 over the positive ones; None if all are equal.

    Raises:
        DataError: HW126, all weights are 0.
    """
    weights = _weights(items)
    if len(weights) and not weights.any():
        raise DataError("HW126", "the weights of all that is trained on are 0")
    if not len(weights) or (weights == weights[0]).all():
        return None
    weights /= weights.max()  # avoids overflow in the sum of large weights
    return (weights / weights[weights > 0].mean()).astype(np.float32)


def evaluation_weights(items: Sequence[object]) -> Floats | None:
    """The weights of held-out items (see `training_weights`); None also if all are 0, meaning equal
    weights."""
    return training_weights(items) if _weights(items).any() else None


def evaluation_mask(items: Sequence[object]) -> NDArray[np.bool_]:
    """Whether each held-out item counts in evaluation, `[items]`: those of weight 0 do not, unless all
    weights are 0."""
    counts = _weights(items) > 0
    return counts if counts.any() else ~counts


def evaluated_items(items: Sequence[T]) -> Sequence[T]:
    """The held-out items that count in evaluation (see `evaluation_mask`)."""
    counts = evaluation_mask(items)
    return items if counts.all() else items_at(items, np.flatnonzero(counts))


def effective_sample_size(items: Sequence[object]) -> tuple[int, float]:
    """The number of items with a positive weight, and Kish's effective sample size,
    `(sum w)^2 / sum w^2`."""
    weights = _weights(items)
    weights = weights[weights > 0]
    if not len(weights):
        return 0, 0.0
    weights /= weights.max()  # avoids overflow in the squares of large weights
    return len(weights), float(weights.sum() ** 2 / (weights**2).sum())


def _weights(items: Iterable[object]) -> NDArray[np.float64]:
    """The weights as they were read, `[items]`; 1 for items without one."""
    return np.array([getattr(item, "weight", 1.0) for item in items], dtype=np.float64)
