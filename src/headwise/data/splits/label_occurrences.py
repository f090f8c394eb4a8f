"""Which labels the training side of a split has: a label that it lacks cannot be learnt."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from headwise.data.splits.duplicates import key_numbers


@dataclass(frozen=True, eq=False)
class LabelOccurrences:
    """The labels of the items of a data set; an item may have several, or none.

    Attributes:
        items: The item of each occurrence of a label, `[occurrences]`.
        labels: The number of the label, from 0, `[occurrences]`.
        count: The number of different labels.
    """

    items: NDArray[np.int64]
    labels: NDArray[np.int64]
    count: int

    @classmethod
    def of(cls, label_sets: Sequence[Collection[str]]) -> "LabelOccurrences":
        """The occurrences of the labels of each item."""
        labels = key_numbers([*chain.from_iterable(label_sets)])
        items = np.repeat(np.arange(len(label_sets)), [len(names) for names in label_sets])
        return cls(items, labels, int(labels.max(initial=-1)) + 1)

    def missing(self, training: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The labels that no training item has; `training` marks these items, `[items]`."""
        counts = np.bincount(self.labels[training[self.items]], minlength=self.count)
        return np.flatnonzero(counts == 0)

    def first_groups(self, group_of: NDArray[np.int64]) -> NDArray[np.int64]:
        """The first group with each label, `[labels]`; `group_of` has the group of each item, `[items]`."""
        first = np.full(self.count, len(group_of))
        np.minimum.at(first, self.labels, group_of[self.items])
        return first

    def held_out_groups(
        self, folds: NDArray[np.int64], group_of: NDArray[np.int64]
    ) -> list[NDArray[np.int64]]:
        """The groups of each label that occurs in one fold only, labels of few groups first.

        Args:
            folds: The fold of each item, `[items]`; -1 is always for training.
            group_of: The group of each item, `[items]`.
        """
        least, most = np.full(self.count, len(folds)), np.full(self.count, -1)
        np.minimum.at(least, self.labels, folds[self.items])
        np.maximum.at(most, self.labels, folds[self.items])
        lost = np.flatnonzero((least == most) & (most >= 0))
        entries = np.flatnonzero(np.isin(self.labels, lost))
        entries = entries[np.argsort(self.labels[entries], kind="stable")]
        ends = np.searchsorted(self.labels[entries], lost, side="right")
        groups = np.split(group_of[self.items[entries]], ends[:-1]) if len(lost) else []
        return sorted(map(np.unique, groups), key=len)
