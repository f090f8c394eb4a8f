"""Metrics of a single-label classifier, with confidence intervals.

Targets are label indices, `[texts]`, or soft labels (probabilities), `[texts, classes]`; only this module
tells them apart.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headwise.core.activations import log_softmax


def is_soft(targets: NDArray) -> bool:
    """Whether the targets of a single-label classifier are soft labels."""
    return targets.ndim == 2


def hard_labels(targets: NDArray) -> NDArray[np.int64]:
    """The index of each text's (most probable) label, `[texts]`."""
    return targets.argmax(axis=1) if is_soft(targets) else targets


def label_probabilities(targets: NDArray, classes: int, dtype: type[np.floating] = np.float64) -> NDArray:
    """The targets as probabilities, `[texts, classes]`; soft labels are returned as they are."""
    return targets if is_soft(targets) else np.eye(classes, dtype=dtype)[targets]


def expected_values(targets: NDArray, values: NDArray) -> NDArray:
    """The value of each text's label, `[texts]`, of values `[classes]`; for soft labels, their mean."""
    return targets @ values if is_soft(targets) else values[targets]


def cross_entropies(log_probabilities: NDArray, targets: NDArray) -> NDArray:
    """The cross-entropy of each text, `[texts]`, in nats, of log probabilities `[texts, classes]`."""
    if is_soft(targets):
        return -(targets * log_probabilities).sum(axis=1)
    return -log_probabilities[np.arange(len(targets)), targets]


def correctness(predicted: NDArray[np.int64], targets: NDArray) -> NDArray:
    """Whether each predicted label is right, `[texts]`; for soft labels, its target probability."""
    return targets[np.arange(len(predicted)), predicted] if is_soft(targets) else predicted == targets


def smoothing_mass(texts: int) -> float:
    """The smoothing mass of each target, spread over all labels, for `texts` held-out texts (Platt
    1999)."""
    return 1.0 / (texts + 2)


def smooth_targets(targets: NDArray, classes: int) -> NDArray[np.float64]:
    """Targets smoothed towards the uniform distribution with the mass `smoothing_mass(texts)` (Platt 1999),
    `[texts, classes]`."""
    unsure = smoothing_mass(len(targets))
    probabilities = label_probabilities(targets, classes).astype(np.float64)
    return unsure / classes + (1 - unsure) * probabilities


NORMAL_QUANTILE = 1.959964
"""Standard errors on either side of a 95 % interval."""


@dataclass(frozen=True)
class LabelScore:
    """Scores of one label."""

    label: str
    precision: float
    recall: float
    f1: float
    texts: int
    """Number of texts with this label."""


@dataclass(frozen=True)
class ClassificationScores:
    """Scores of a classifier on labelled texts.

    Attributes:
        texts: Number of texts.
        accuracy: Fraction of texts with the right label.
        accuracy_interval: 95 % Wilson interval of the accuracy.
        macro_f1: Mean F1 of the labels that occur in the texts or in the predictions.
        labels: The scores of each label.
        confusion: `confusion[i][j]` is the number of texts of label i that were predicted as label j.
    """

    texts: int
    accuracy: float
    accuracy_interval: tuple[float, float]
    macro_f1: float
    labels: tuple[LabelScore, ...]
    confusion: tuple[tuple[int, ...], ...]


def score_labels(predicted: np.ndarray, targets: np.ndarray, labels: Sequence[str]) -> ClassificationScores:
    """Scores of predicted label indices against the true ones, both `[texts]`.

    Raises:
        ValueError: There are no texts.
    """
    if len(targets) == 0:
        raise ValueError("no texts to score")
    classes = len(labels)
    confusion = np.bincount(targets * classes + predicted, minlength=classes**2).reshape(classes, classes)
    right, texts, predicted_counts = np.diag(confusion), confusion.sum(axis=1), confusion.sum(axis=0)
    precision, recall = right / np.maximum(predicted_counts, 1), right / np.maximum(texts, 1)
    f1 = 2 * right / np.maximum(texts + predicted_counts, 1)
    rows = zip(labels, precision, recall, f1, texts, strict=True)
    hits = int(right.sum())
    return ClassificationScores(
        texts=len(targets),
        accuracy=hits / len(targets),
        accuracy_interval=wilson_interval(hits, len(targets)),
        macro_f1=float(f1[texts + predicted_counts > 0].mean()),
        labels=tuple(LabelScore(name, float(p), float(r), float(f), int(n)) for name, p, r, f, n in rows),
        confusion=tuple(map(tuple, confusion.tolist())),
    )


def weighted_rates(
    predicted: np.ndarray, targets: np.ndarray, labels: int, weights: np.ndarray
) -> tuple[float, float]:
    """Weighted accuracy and macro F1 of label indices, `[texts]`. A text of weight 2 counts as two texts,
    one of weight 0 is ignored."""
    confusion = np.bincount(targets * labels + predicted, weights, labels**2).reshape(labels, labels)
    right, counts = np.diag(confusion), confusion.sum(axis=1) + confusion.sum(axis=0)
    met = counts > 0
    return float(right.sum() / confusion.sum()), float((2 * right[met] / counts[met]).mean())


def selective_scores(
    confidences: NDArray[np.floating], right: NDArray, least: float
) -> dict[str, float | tuple[float, float]]:
    """The scores of selective prediction: the threshold (`probability`), the `share` of predictions with at
    least this confidence, and if there are any their `accuracy` with its `accuracy_interval`.

    Args:
        confidences: The probability of each prediction, `[predictions]`.
        right: Whether each is right, `[predictions]`.
        least: The confidence threshold.
    """
    above = right[confidences >= least]
    scores: dict[str, float | tuple[float, float]] = {
        "probability": least,
        "share": len(above) / max(len(right), 1),
    }
    if len(above):
        bounds = wilson_interval(int(above.sum()), len(above))
        scores |= {"accuracy": float(above.mean()), "accuracy_interval": bounds}
    return scores


def wilson_interval(right: int, texts: int) -> tuple[float, float]:
    """95 % Wilson interval of a proportion (Wilson 1927), valid for small counts and near 0 and 1."""
    # scipy.stats has it too, and takes longer to load than all scores of a training to compute.
    z, share = 1.9599639845400536, right / texts
    middle = share + z * z / (2 * texts)
    width = z * (share * (1 - share) / texts + (z / texts / 2) ** 2) ** 0.5
    low, high = ((middle + side) / (1 + z * z / texts) for side in (-width, width))
    return 0.0 if right == 0 else low, 1.0 if right == texts else high


def mean_loss(logits: np.ndarray, targets: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Mean cross-entropy, in nats, of logits `[texts, classes]`, with text weights. Targets are label
    indices, `[texts]`, or soft labels, `[texts, classes]`."""
    log_probabilities = log_softmax(logits.astype(np.float64), axis=1)
    return float(np.average(cross_entropies(log_probabilities, targets), weights=weights))


@dataclass(frozen=True)
class AccuracyDifference:
    """The paired difference of two classifiers on the same texts.

    Attributes:
        accuracy: Accuracy of the first minus that of the second.
        interval: 95 % bootstrap interval of the difference, over texts.
        p_value: The p value of the exact McNemar test on the texts that only one of them gets right.
    """

    accuracy: float
    interval: tuple[float, float]
    p_value: float


def compare_labels(
    first: np.ndarray, second: np.ndarray, targets: np.ndarray, *, seed: int = 0
) -> AccuracyDifference:
    """Paired comparison of two classifiers by their predicted label indices, `[texts]`."""
    first_right, second_right = first == targets, second == targets
    better, worse = int((first_right & ~second_right).sum()), int((second_right & ~first_right).sum())
    p = min(1.0, 2 * binomial_tail(min(better, worse), better + worse))
    interval = paired_interval(first_right, second_right, seed=seed)
    return AccuracyDifference((better - worse) / len(targets), interval, p)


def binomial_tail(heads: int, trials: int) -> float:
    """The probability of at most `heads` heads in `trials` tosses of a fair coin."""
    if 2 * heads >= trials:
        return 1 - binomial_tail(trials - heads - 1, trials)
    if heads < 0:
        return 0.0
    outcomes = trials * math.log(2)
    logarithm = math.lgamma(trials + 1) - math.lgamma(heads + 1) - math.lgamma(trials - heads + 1)
    total, term = 0.0, math.exp(logarithm - outcomes)  # of exactly `heads`
    while heads >= 0 and term > 1e-17 * total:
        total += term
        term *= heads / (trials - heads + 1)
        heads -= 1
    return total


def paired_interval(first: np.ndarray, second: np.ndarray, *, seed: int = 0) -> tuple[float, float]:
    """95 % bootstrap interval of the accuracy difference of two models, first minus second, from whether
    each is right on the same texts, both `[texts]`."""
    gain, texts = first.astype(np.int64) - second.astype(np.int64), len(first)
    better, worse = int((gain > 0).sum()), int((gain < 0).sum())
    # Resampling texts with replacement is a multinomial draw of the three outcomes.
    random = np.random.Generator(np.random.PCG64(seed))
    draws = random.multinomial(
        texts, [better / texts, worse / texts, 1 - (better + worse) / texts], size=10_000
    )
    return central_interval((draws[:, 0] - draws[:, 1]) / texts)


def central_interval(values: np.ndarray) -> tuple[float, float]:
    """The 2.5 % and 97.5 % quantiles of values."""
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)
