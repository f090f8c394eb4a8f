"""The labels in the targets of a label type, for training on label names and for novelty detectors.

`TARGET_LABELS` has a row for each label type whose items have labels.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from headwise.data.items.label_types import LabelSetType, LabelType, SingleLabelType
from headwise.metrics.classification_scores import hard_labels, is_soft, label_probabilities


class TargetLabels(ABC):
    """The labels in target arrays, `[texts, ...]`."""

    @abstractmethod
    def counts(self, targets: NDArray, weights: NDArray | None, classes: int) -> NDArray:
        """The total weight of the texts of each label, `[classes]`.

        Args:
            targets: Targets of the texts.
            weights: Weights of the texts, `[texts]`; None where all are 1.
            classes: Number of labels.
        """

    @abstractmethod
    def has_labels(self, targets: NDArray, numbers: Sequence[int]) -> NDArray[np.bool_]:
        """Whether each text has each of these labels, given by index, `[texts, numbers]`."""

    @abstractmethod
    def extended(self, targets: NDArray, numbers: Sequence[int], classes: int) -> NDArray:
        """The targets, followed by those of one text per label index, which has that label only."""

    @abstractmethod
    def share_label(self, first: NDArray, second: NDArray) -> NDArray[np.bool_]:
        """Whether texts with these targets have a label in common, `[first, second]`."""


class SingleTargetLabels(TargetLabels):
    """The labels in label indices, `[texts]`, or in label probabilities, `[texts, classes]`."""

    def counts(self, targets: NDArray, weights: NDArray | None, classes: int) -> NDArray:
        if is_soft(targets):
            return _column_sums(targets, weights)
        return np.bincount(targets, weights, minlength=classes)

    def has_labels(self, targets: NDArray, numbers: Sequence[int]) -> NDArray[np.bool_]:
        return hard_labels(targets)[:, None] == np.array(numbers)

    def extended(self, targets: NDArray, numbers: Sequence[int], classes: int) -> NDArray:
        added = np.array(numbers)
        added = label_probabilities(added, classes) if is_soft(targets) else added
        return np.concatenate([targets, added.astype(targets.dtype)])

    def share_label(self, first: NDArray, second: NDArray) -> NDArray[np.bool_]:
        return hard_labels(first)[:, None] == hard_labels(second)


class SetTargetLabels(TargetLabels):
    """The labels in multi-hot label sets, `[texts, classes]` bool."""

    def counts(self, targets: NDArray, weights: NDArray | None, classes: int) -> NDArray:
        return _column_sums(targets, weights)

    def has_labels(self, targets: NDArray, numbers: Sequence[int]) -> NDArray[np.bool_]:
        return targets[:, numbers]

    def extended(self, targets: NDArray, numbers: Sequence[int], classes: int) -> NDArray:
        return np.concatenate([targets, np.eye(classes, dtype=np.bool_)[numbers]])

    def share_label(self, first: NDArray, second: NDArray) -> NDArray[np.bool_]:
        return first.astype(np.float32) @ second.astype(np.float32).T > 0


TARGET_LABELS: dict[type[LabelType], TargetLabels] = {
    SingleLabelType: SingleTargetLabels(),
    LabelSetType: SetTargetLabels(),
}


def target_labels(label_type: LabelType) -> TargetLabels:
    """The row of `TARGET_LABELS`.

    Raises:
        TypeError: The items of this label type have no labels.
    """
    if type(label_type) not in TARGET_LABELS:
        raise TypeError(f"no labels in the targets of {type(label_type).__name__}: see TARGET_LABELS")
    return TARGET_LABELS[type(label_type)]


def _column_sums(targets: NDArray, weights: NDArray | None) -> NDArray:
    return (targets if weights is None else targets * weights[:, None]).sum(axis=0)
