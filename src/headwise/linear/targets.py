"""What a linear model is to learn of its texts: labels, soft labels, label sets or numbers.

Each kind says how it is put to the solver, which knows signs and costs alone, what calibrates scores, and
how good they are.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from headwise.linear.mixture import fit_mixture
from headwise.linear.solver import Floats, Rows
from headwise.linear.text_model import signs_of
from headwise.scores.binary import fit_binary_temperature, mean_binary_loss

TargetArray = NDArray[np.int64] | NDArray[np.floating] | NDArray[np.bool_]
"""Label numbers, `[texts]`, or probabilities, `[texts, classes]`, or, of label sets, whether a text has
each label, `[texts, classes]` bool; or numbers of mean 0 and deviation 1, `[texts]` float."""


@dataclass(frozen=True)
class Problem:
    """What the solver is asked (see `headwise.linear.solver.solve`)."""

    rows: Rows
    signs: NDArray[np.int8]
    costs: NDArray
    offsets: Floats | None
    wanted: Floats | None = None


@dataclass(frozen=True)
class Targets(ABC):
    """What is to be learned of some texts.

    Attributes:
        labels: A label of each text, by which folds are balanced, `[texts]`.
        classes: Number of labels; of numbers 1.
    """

    labels: NDArray[np.int64]
    classes: int

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def columns(self) -> int:
        """Machines that it takes: one for a pair of labels of which a text has one."""
        return 1 if self.classes == 2 else self.classes

    def importance(self, class_weight: NDArray) -> NDArray | None:
        """How much each text counts where labels count differently; None where texts count the same, and
        their labels do not."""
        return np.asarray(class_weight, dtype=np.float64)[self.labels]

    @abstractmethod
    def take(self, texts: NDArray[np.int64]) -> Self:
        """Those of some of the texts."""

    @abstractmethod
    def problem(self, rows: Rows, importance: Floats, offsets: Floats | None) -> Problem:
        """What the solver is asked, of rows that count so much, `[texts, 1]`, to learn beside offsets."""

    @abstractmethod
    def calibration(self, scores: Floats, counts: Floats | None) -> tuple[float, float]:
        """What scores `[texts, classes]` are multiplied by to become logits, and their log loss; of numbers
        1 and the mean squared error.

        Args:
            counts: How much each text counts, if they differ.
        """

    def score(self, scores: Floats) -> float:
        """The accuracy of scores, `[texts, classes]`; of label sets, the share of answers that are right;
        of numbers, the share of their variance that is explained."""
        return float((scores.argmax(1) == self.labels).mean())

    @staticmethod
    def of(targets: TargetArray, classes: int, class_weight: NDArray | None = None) -> "Targets":
        """The kind of targets that an array holds.

        Args:
            class_weight: Of label sets, how much the texts with each label count beside those without,
                `[classes]`.
        """
        own: Any = targets
        if own.dtype == np.bool_:
            weights = np.ones(classes) if class_weight is None else np.asarray(class_weight)
            return LabelSets(own.argmax(axis=1), classes, own, weights.astype(np.float32))
        if own.ndim == 2:
            return SoftLabels(own.argmax(axis=1), classes, own.astype(np.float32))
        if np.issubdtype(own.dtype, np.floating):
            return Amounts(np.zeros(len(own), dtype=np.int64), classes, own.astype(np.float32)[:, None])
        return Labels(own.astype(np.int64), classes)


@dataclass(frozen=True)
class Labels(Targets):
    """One label a text."""

    def take(self, texts: NDArray[np.int64]) -> Self:
        return type(self)(self.labels[texts], self.classes)

    def problem(self, rows: Rows, importance: Floats, offsets: Floats | None) -> Problem:
        return Problem(rows, signs_of(self.labels, self.classes), importance, offsets)

    def calibration(self, scores: Floats, counts: Floats | None) -> tuple[float, float]:
        return _temperature(scores, self.labels, counts)


@dataclass(frozen=True)
class SoftLabels(Targets):
    """The probability of each label, `[texts, classes]`."""

    shares: Floats

    def importance(self, class_weight: NDArray) -> NDArray:
        return self.shares @ np.asarray(class_weight, dtype=np.float64)

    def take(self, texts: NDArray[np.int64]) -> Self:
        return type(self)(self.labels[texts], self.classes, self.shares[texts])

    def problem(self, rows: Rows, importance: Floats, offsets: Floats | None) -> Problem:
        """Each text once with the label and once without it, by the probabilities."""
        shares = self.shares[:, -self.columns :]
        sparse = csr_matrix(vstack([rows.sparse, rows.sparse], format="csr"))
        signs = np.ones(shares.shape, dtype=np.int8)
        return Problem(
            Rows(sparse, np.vstack([rows.dense, rows.dense])),
            np.vstack([signs, -signs]),
            np.vstack([shares * importance, (1 - shares) * importance]),
            None if offsets is None else np.vstack([offsets, offsets]),
        )

    def calibration(self, scores: Floats, counts: Floats | None) -> tuple[float, float]:
        return _temperature(scores, self.shares, counts)


@dataclass(frozen=True)
class LabelSets(Targets):
    """Whether a text has each label, `[texts, classes]`, and what one with it counts beside one without,
    `[classes]`."""

    members: NDArray[np.bool_]
    weights: Floats

    @property
    def columns(self) -> int:
        return self.classes

    def importance(self, class_weight: NDArray) -> None:
        return None

    def take(self, texts: NDArray[np.int64]) -> Self:
        return type(self)(self.labels[texts], self.classes, self.members[texts], self.weights)

    def problem(self, rows: Rows, importance: Floats, offsets: Floats | None) -> Problem:
        signs = np.where(self.members, 1, -1).astype(np.int8)
        return Problem(
            rows, signs, importance * np.where(self.members, self.weights, np.float32(1)), offsets
        )

    def calibration(self, scores: Floats, counts: Floats | None) -> tuple[float, float]:
        factor = 1 / fit_binary_temperature(scores, self.members, counts)
        return factor, mean_binary_loss(scores * np.float32(factor), self.members, counts)

    def score(self, scores: Floats) -> float:
        return float(((scores > 0) == self.members).mean())


@dataclass(frozen=True)
class Amounts(Targets):
    """Numbers of mean 0 and deviation 1, `[texts, 1]`."""

    values: Floats

    def take(self, texts: NDArray[np.int64]) -> Self:
        return type(self)(self.labels[texts], self.classes, self.values[texts])

    def problem(self, rows: Rows, importance: Floats, offsets: Floats | None) -> Problem:
        signs = np.ones((len(self), 1), dtype=np.int8)
        return Problem(rows, signs, importance, offsets, self.values)

    def calibration(self, scores: Floats, counts: Floats | None) -> tuple[float, float]:
        return 1.0, float(np.average(((scores - self.values) ** 2)[:, 0], weights=counts))

    def score(self, scores: Floats) -> float:
        return 1 - float(((scores - self.values) ** 2).mean() / max(self.values.var(), 1e-12))


def _temperature(scores: Floats, targets: NDArray, counts: Floats | None) -> tuple[float, float]:
    mixture = fit_mixture([scores], targets, texts=counts)
    return mixture.weights[0], mixture.loss
