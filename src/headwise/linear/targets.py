"""The targets of a linear model: labels, soft labels, label sets or numbers.

Each type defines the problem for the solver (signs and costs), the calibration of scores, and their metric.
`LINEAR_TARGETS` has the targets of each label type.
`TextWeights` weight the training texts in the loss, in held-out scores and in feature statistics;
`TrainingTexts` are texts with both.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Protocol, Self, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from headwise.data.items.dataset import items_at
from headwise.data.items.label_types import LabelSetType, LabelType, NumericLabelType, SingleLabelType
from headwise.linear.ensemble_weights import fit_binary_shifts, fit_ensemble
from headwise.linear.linear_model import signs_of
from headwise.linear.linear_weights import DesignMatrix, Floats
from headwise.linear.svm_solver import LinearProblem
from headwise.linear.tfidf_features import LinearTexts
from headwise.metrics.multi_label_scores import mean_binary_loss

TargetArray = NDArray[np.int64] | NDArray[np.floating] | NDArray[np.bool_]
"""Label indices, `[texts]`; or label probabilities, `[texts, classes]`; or multi-hot label sets, `[texts,
classes]` bool; or numbers scaled to mean 0 and standard deviation 1, `[texts]` float."""


@dataclass(frozen=True)
class ScoreCalibration:
    """What turns scores into logits: `factor * scores + shift`.

    Attributes:
        factor: The factor of all scores.
        shift: Added to the scores of each label, `[classes]`; None for 0.
    """

    factor: float = 1.0
    shift: Floats | None = None

    def logits(self, scores: Floats) -> Floats:
        """The logits of scores `[..., classes]`."""
        scaled = scores * np.float32(self.factor)
        return scaled if self.shift is None else scaled + self.shift


UNCALIBRATED = ScoreCalibration()
"""The scores are the logits, as those of numbers are."""


@dataclass(frozen=True, kw_only=True)
class FittedCalibration(ScoreCalibration):
    """A calibration that was fitted on held-out texts.

    Attributes:
        loss: Log loss of the logits on these texts; for numbers the mean squared error.
    """

    loss: float


@dataclass(frozen=True)
class Targets(ABC):
    """The targets of some texts.

    Attributes:
        labels: One label per text, by which folds are stratified, `[texts]`.
        classes: Number of labels; 1 for numbers.
    """

    labels: NDArray[np.int64]
    classes: int
    least_gain: ClassVar[float] = 0.01
    """The relative improvement of the loss from which on surface features, or the first and last words, are
    used. On small data they often seem to help a little by chance."""

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def columns(self) -> int:
        """Number of score columns: one for two exclusive labels."""
        return 1 if self.classes == 2 else self.classes

    def importance(self, class_weight: NDArray) -> NDArray | None:
        """The weight of each text under class weights; None where these act within a text instead."""
        return np.asarray(class_weight, dtype=np.float64)[self.labels]

    @abstractmethod
    def take(self, texts: NDArray[np.int64]) -> Self:
        """The targets of a subset of the texts."""

    @abstractmethod
    def problem(self, rows: DesignMatrix, importance: Floats, offsets: Floats | None) -> LinearProblem:
        """The input of the solver, for rows with weights `[texts, 1]` and optional offsets."""

    @abstractmethod
    def calibration(self, scores: Floats, counts: Floats | None) -> FittedCalibration:
        """What calibrates scores of held-out texts, `[texts, classes]`.

        Args:
            counts: Weights of the texts; None where all are equal.
        """

    def score(self, scores: Floats) -> float:
        """The accuracy of scores `[texts, classes]`; for label sets, the share of correct decisions; for
        numbers, the explained variance (R2)."""
        return float((scores.argmax(1) == self.labels).mean())

    @staticmethod
    @abstractmethod
    def of(targets: TargetArray, classes: int, class_weight: NDArray | None = None) -> "Targets":
        """Wrap an array.

        Args:
            targets: The array of `TargetArray` that holds these targets.
            classes: Number of labels; 1 for numbers.
            class_weight: For label sets, the weight of texts with each label relative to those without,
                `[classes]`.

        Raises:
            TypeError: The array is of another type or shape.
        """


@dataclass(frozen=True)
class LabelTargets(Targets):
    """One label per text."""

    @staticmethod
    def of(targets: TargetArray, classes: int, class_weight: NDArray | None = None) -> Targets:
        """Label indices, or label probabilities as `SoftLabelTargets`."""
        if targets.ndim == 2:
            return SoftLabelTargets.of(targets, classes)
        _check_array(targets, np.integer, 1, "label indices")
        return LabelTargets(targets.astype(np.int64), classes)

    def take(self, texts: NDArray[np.int64]) -> Self:
        return type(self)(self.labels[texts], self.classes)

    def problem(self, rows: DesignMatrix, importance: Floats, offsets: Floats | None) -> LinearProblem:
        return LinearProblem(rows, signs_of(self.labels, self.classes), importance, offsets)

    def calibration(self, scores: Floats, counts: Floats | None) -> FittedCalibration:
        return _temperature(scores, self.labels, counts)


@dataclass(frozen=True)
class SoftLabelTargets(Targets):
    """Label probabilities, `[texts, classes]`."""

    shares: Floats

    @staticmethod
    def of(targets: TargetArray, classes: int, class_weight: NDArray | None = None) -> "SoftLabelTargets":
        _check_array(targets, np.floating, 2, "label probabilities")
        return SoftLabelTargets(targets.argmax(axis=1), classes, targets.astype(np.float32))

    def importance(self, class_weight: NDArray) -> NDArray:
        return self.shares @ np.asarray(class_weight, dtype=np.float64)

    def take(self, texts: NDArray[np.int64]) -> Self:
        return type(self)(self.labels[texts], self.classes, self.shares[texts])

    def problem(self, rows: DesignMatrix, importance: Floats, offsets: Floats | None) -> LinearProblem:
        """Each text enters twice, with and without the label, weighted by the probabilities."""
        shares = self.shares[:, -self.columns :]
        sparse = csr_matrix(vstack([rows.sparse, rows.sparse], format="csr"))
        signs = np.ones(shares.shape, dtype=np.int8)
        return LinearProblem(
            DesignMatrix(sparse, np.vstack([rows.dense, rows.dense])),
            np.vstack([signs, -signs]),
            np.vstack([shares * importance, (1 - shares) * importance]),
            None if offsets is None else np.vstack([offsets, offsets]),
        )

    def calibration(self, scores: Floats, counts: Floats | None) -> FittedCalibration:
        return _temperature(scores, self.shares, counts)


@dataclass(frozen=True)
class MultiLabelTargets(Targets):
    """Multi-hot labels, `[texts, classes]`, and the weight of positive texts per label, `[classes]`."""

    members: NDArray[np.bool_]
    weights: Floats
    least_gain: ClassVar[float] = 0.003
    """Most of their loss is of labels that are rare, whatever the text."""

    @staticmethod
    def of(targets: TargetArray, classes: int, class_weight: NDArray | None = None) -> "MultiLabelTargets":
        _check_array(targets, np.bool_, 2, "label sets")
        weights = np.ones(classes) if class_weight is None else np.asarray(class_weight)
        members = targets.astype(np.bool_, copy=False)
        return MultiLabelTargets(members.argmax(axis=1), classes, members, weights.astype(np.float32))

    @property
    def columns(self) -> int:
        return self.classes

    def importance(self, class_weight: NDArray) -> None:
        return None

    def take(self, texts: NDArray[np.int64]) -> Self:
        return type(self)(self.labels[texts], self.classes, self.members[texts], self.weights)

    def problem(self, rows: DesignMatrix, importance: Floats, offsets: Floats | None) -> LinearProblem:
        signs = np.where(self.members, 1, -1).astype(np.int8)
        return LinearProblem(
            rows, signs, importance * np.where(self.members, self.weights, np.float32(1)), offsets
        )

    def calibration(self, scores: Floats, counts: Floats | None) -> FittedCalibration:
        factor, shift = fit_binary_shifts(scores, self.members, counts)
        shift = shift.astype(np.float32)
        logits = ScoreCalibration(factor, shift).logits(scores)
        loss = mean_binary_loss(logits, self.members, counts)
        return FittedCalibration(factor=factor, shift=shift, loss=loss)

    def score(self, scores: Floats) -> float:
        return float(((scores > 0) == self.members).mean())


@dataclass(frozen=True)
class NumericTargets(Targets):
    """Numbers scaled to mean 0 and standard deviation 1, `[texts, 1]`."""

    values: Floats

    @staticmethod
    def of(targets: TargetArray, classes: int, class_weight: NDArray | None = None) -> "NumericTargets":
        _check_array(targets, np.floating, 1, "numbers")
        strata = np.zeros(len(targets), dtype=np.int64)
        return NumericTargets(strata, classes, targets.astype(np.float32)[:, None])

    def take(self, texts: NDArray[np.int64]) -> Self:
        return type(self)(self.labels[texts], self.classes, self.values[texts])

    def problem(self, rows: DesignMatrix, importance: Floats, offsets: Floats | None) -> LinearProblem:
        signs = np.ones((len(self), 1), dtype=np.int8)
        return LinearProblem(rows, signs, importance, offsets, self.values)

    def calibration(self, scores: Floats, counts: Floats | None) -> FittedCalibration:
        return FittedCalibration(
            loss=float(np.average(((scores - self.values) ** 2)[:, 0], weights=counts))
        )

    def score(self, scores: Floats) -> float:
        return 1 - float(((scores - self.values) ** 2).mean() / max(self.values.var(), 1e-12))


LINEAR_TARGETS: dict[type[LabelType], type[Targets]] = {
    SingleLabelType: LabelTargets,
    LabelSetType: MultiLabelTargets,
    NumericLabelType: NumericTargets,
}
"""The targets of the linear models of each label type; the label types that have none are left out."""


def linear_targets(
    label_type: LabelType, targets: TargetArray, classes: int, class_weight: NDArray | None = None
) -> Targets:
    """The targets of a label type, see `Targets.of`.

    Raises:
        TypeError: Linear models do not support the label type, or the array is not one of its targets.
    """
    if type(label_type) not in LINEAR_TARGETS:
        raise TypeError(f"no linear model of texts for {type(label_type).__name__}: see LINEAR_TARGETS")
    return LINEAR_TARGETS[type(label_type)].of(targets, classes, class_weight)


def _check_array(targets: TargetArray, kind: type[np.generic], dimensions: int, noun: str) -> None:
    if not np.issubdtype(targets.dtype, kind) or targets.ndim != dimensions:
        shape = f"{targets.dtype} with {targets.ndim} dimensions"
        raise TypeError(f"{noun} are {kind.__name__} with {dimensions} dimensions, not {shape}")


def _temperature(scores: Floats, targets: NDArray, counts: Floats | None) -> FittedCalibration:
    ensemble = fit_ensemble([scores], targets, weights=counts)
    return FittedCalibration(factor=ensemble.weights[0], loss=ensemble.loss)


@dataclass(frozen=True)
class TextWeights:
    """The weights of training texts.

    Attributes:
        costs: The factor of each text's loss, `[texts]`; 1 on average over the texts with a positive
            weight.
        counts: Weights of the texts when they are held out, without class weights; None where all are
            equal.
        amounts: Weights of the texts in feature statistics (document frequency, mean, deviation), where
            label names count 1; None where all are equal.
    """

    costs: Floats
    counts: Floats | None = None
    amounts: Floats | None = None

    @classmethod
    def of(
        cls,
        targets: Targets,
        weights: NDArray | None = None,
        class_weight: NDArray | None = None,
        text_count: int | None = None,
    ) -> "TextWeights":
        """The importance of training texts.

        Args:
            weights: Weight of each text, `[texts]`.
            class_weight: Weight of the texts of each label, `[classes]`.
            text_count: Number of real texts; those behind them are label names.
        """
        costs = np.ones(len(targets)) if weights is None else np.asarray(weights, np.float64)
        counting, counts, amounts = costs > 0, None, None
        if weights is not None and counting.any():
            counts = (costs / costs[counting].mean()).astype(np.float32)
            amounts = _amounts(counts, text_count)
        factors = None if class_weight is None else targets.importance(class_weight)
        costs = costs if factors is None else costs * factors
        if costs.sum() > 0:
            costs = costs / costs[counting].mean()
        return cls(costs.astype(np.float32), counts, amounts)

    def take(self, texts: NDArray[np.int64]) -> "TextWeights":
        """The importance of a subset of the texts."""
        selected = (None if values is None else values[texts] for values in (self.counts, self.amounts))
        return TextWeights(self.costs[texts], *selected)


def _amounts(counts: Floats, text_count: int | None) -> Floats | None:
    """Weights in feature statistics; None where they are equal. Label names, which follow the real texts,
    get weight 1: they have a larger weight in the loss, but not in document frequencies."""
    amounts = counts[:text_count]
    if not amounts.any() or (amounts == amounts[0]).all():
        return None
    amounts = amounts / amounts[amounts > 0].mean()
    return np.append(amounts, np.ones(len(counts) - len(amounts))).astype(np.float32)


class VectorRows(Protocol):
    """Vectors of texts, `[texts, size]`, which may be computed when they are needed."""

    def __len__(self) -> int: ...

    def __getitem__(self, texts: NDArray[np.int64], /) -> NDArray: ...


@dataclass(frozen=True)
class TrainingTexts:
    """Training texts, or pairs of them, before their features are computed.

    Attributes:
        texts: The texts or pairs.
        targets: Their targets.
        importance: Their weights.
        named: Whether a text is the name of a label, `[texts]`; names stand behind all real texts.
        dense: Vectors of the texts, `[texts, size]`; None without.
        numbers: Comparison features of pairs, or features of the columns beside the texts, `[texts,
            numbers]`; None without.
    """

    texts: LinearTexts
    targets: Targets
    importance: TextWeights
    named: NDArray[np.bool_]
    dense: VectorRows | None = None
    numbers: NDArray | None = None

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def text_count(self) -> int:
        """Number of real texts."""
        return len(self.named) - int(self.named.sum())

    def take(self, places: NDArray[np.int64]) -> "TrainingTexts":
        """The texts at these places, with their vectors in memory."""
        return TrainingTexts(
            cast(LinearTexts, items_at(self.texts, places)),
            self.targets.take(places),
            self.importance.take(places),
            self.named[places],
            None if self.dense is None else self.dense[places],
            None if self.numbers is None else self.numbers[places],
        )

    def vectors(self) -> NDArray | None:
        """The vectors of all texts in memory, `[texts, size]`; None without."""
        if self.dense is None or isinstance(self.dense, np.ndarray):
            return self.dense
        return self.dense[np.arange(len(self))]
