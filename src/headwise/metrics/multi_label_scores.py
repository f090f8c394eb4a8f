"""Metrics of multi-label predictions, with confidence intervals; labels are independent decisions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headwise.metrics.calibration import binned_calibration_error
from headwise.metrics.classification_scores import central_interval, wilson_interval
from headwise.metrics.resampling import Counts, ScoreDifference, bootstrap_interval, compare_counts
from headwise.metrics.thresholds import LabelScores, Targets, Weights, best_threshold


def mean_binary_loss(logits: LabelScores, targets: Targets, weights: Weights = None) -> float:
    """Mean binary cross-entropy per label, in nats, with text weights."""
    losses = np.logaddexp(0.0, np.where(targets, -1.0, 1.0) * logits.astype(np.float64))
    return float(losses.mean() if weights is None else np.average(losses.mean(axis=1), weights=weights))


def binary_calibration_error(
    probabilities: LabelScores, targets: Targets, weights: Weights = None
) -> float:
    """Expected calibration error of the label probabilities over equal-width bins, with text weights."""
    label_weights = None if weights is None else np.repeat(weights, targets.shape[1])
    return binned_calibration_error(probabilities.ravel(), targets.ravel(), label_weights)


_DRAWS = 1_000  # bootstrap samples for scores that are not functions of summed counts


@dataclass(frozen=True)
class MultiLabelLabelScore:
    """Scores of one label.

    Attributes:
        label: The name of the label.
        precision: Fraction of the texts with the predicted label that have it; 0 where none is predicted.
        recall: Fraction of the texts with the label for which it is predicted; 0 where none has it.
        f1: Harmonic mean of both.
        average_precision: Area under the precision-recall curve, as scikit-learn defines it; None where no
            text has the label.
        texts: Number of texts with the label.
        threshold: The label is predicted from this probability on.
    """

    label: str
    precision: float
    recall: float
    f1: float
    average_precision: float | None
    texts: int
    threshold: float


@dataclass(frozen=True)
class MultiLabelScores:
    """The scores of a multi-label classifier.

    Attributes:
        texts: Number of texts.
        micro_f1: F1 over all pairs of a text and a label.
        micro_f1_interval: 95 % bootstrap interval of the micro F1, over texts.
        micro_precision: Fraction of the predicted labels that are right; 0 where none is predicted.
        micro_recall: Fraction of the true labels that are predicted; 0 where there are none.
        macro_f1: Mean F1 of the labels that are true or predicted for at least one text.
        macro_f1_interval: 95 % bootstrap interval of the macro F1, over texts.
        subset_accuracy: Fraction of texts for which the predicted label set is exactly right.
        subset_accuracy_interval: 95 % Wilson interval of the subset accuracy.
        ranking: Mean label ranking average precision over texts: the fraction of true labels among the
            labels ranked at or above a true one (1 for texts with no label or all labels).
        ranking_interval: 95 % bootstrap interval of `ranking`.
        mean_average_precision: Mean average precision of the labels that at least one text has.
        labels: The scores of each label.
    """

    texts: int
    micro_f1: float
    micro_f1_interval: tuple[float, float]
    micro_precision: float
    micro_recall: float
    macro_f1: float
    macro_f1_interval: tuple[float, float]
    subset_accuracy: float
    subset_accuracy_interval: tuple[float, float]
    ranking: float
    ranking_interval: tuple[float, float]
    mean_average_precision: float
    labels: tuple[MultiLabelLabelScore, ...]


def multi_label_scores(
    scores: LabelScores, thresholds: NDArray[np.float64], targets: Targets, labels: Sequence[str]
) -> MultiLabelScores:
    """Evaluate label scores, such as probabilities, and thresholds against the true label sets.

    Args:
        scores: The score of each label, `[texts, labels]`.
        thresholds: A label is predicted from this score on, `[labels]`.
        targets: The true labels, `[texts, labels]`.
        labels: The names of the labels.

    Raises:
        ValueError: There are no texts.
    """
    texts = len(targets)
    if texts == 0:
        raise ValueError("no texts to score")
    predicted = scores >= thresholds
    hits, taken, held = predicted & targets, predicted.sum(0), targets.sum(0)
    counted = hits.sum(0)
    f1 = _f1(counted, taken, held)
    occurring = held + taken > 0
    areas = _areas(scores, targets)
    present_areas = [area for area in areas if area is not None]
    counts = set_counts(predicted, targets)
    ranking = ranking_precision(scores, targets)
    exact = int((predicted == targets).all(1).sum())
    return MultiLabelScores(
        texts=texts,
        micro_f1=float(micro_f1(counts.sum(0))),
        micro_f1_interval=bootstrap_interval(counts, micro_f1),
        micro_precision=float(counted.sum() / max(taken.sum(), 1)),
        micro_recall=float(counted.sum() / max(held.sum(), 1)),
        macro_f1=float(f1[occurring].mean()) if occurring.any() else 0.0,
        macro_f1_interval=_macro_interval(hits, predicted, targets),
        subset_accuracy=exact / texts,
        subset_accuracy_interval=wilson_interval(exact, texts),
        ranking=float(ranking.mean()),
        ranking_interval=_mean_interval(ranking),
        mean_average_precision=float(np.mean(present_areas)) if present_areas else 0.0,
        labels=tuple(
            MultiLabelLabelScore(
                name,
                precision=float(counted[n] / max(taken[n], 1)),
                recall=float(counted[n] / max(held[n], 1)),
                f1=float(f1[n]),
                average_precision=areas[n],
                texts=int(held[n]),
                threshold=float(thresholds[n]),
            )
            for n, name in enumerate(labels)
        ),
    )


def set_counts(predicted: Targets, targets: Targets) -> Counts:
    """The counts behind micro F1 for each text: right, predicted and true labels, `[texts, 3]`."""
    return np.stack([(predicted & targets).sum(1), predicted.sum(1), targets.sum(1)], axis=1).astype(
        np.int64
    )


def micro_f1(counts: NDArray[np.integer]) -> NDArray[np.float64]:
    """Micro F1 of summed counts, `[..., 3] -> [...]`; 1 where no label is true and none is predicted."""
    hits, predicted, held = np.moveaxis(counts, -1, 0)
    total = predicted + held
    return np.where(total > 0, 2 * hits / np.maximum(total, 1), 1.0)


def compare_sets(first: Targets, second: Targets, targets: Targets) -> ScoreDifference:
    """Paired comparison of two models by micro F1 on the same texts."""
    return compare_counts(set_counts(first, targets), set_counts(second, targets), micro_f1)


def ranking_precision(scores: LabelScores, targets: Targets) -> NDArray[np.float64]:
    """Label ranking average precision of each text, `[texts]` (Schapire, Singer 2000). Tied scores all get
    the worst of their ranks; texts with no label or all labels have the value 1."""
    precisions = np.ones(len(targets))
    for text, (row, true_labels) in enumerate(zip(scores, targets, strict=True)):
        true = row[true_labels]
        if 0 < len(true) < len(row):
            ranks = len(row) - np.searchsorted(np.sort(row), true)
            precisions[text] = ((len(true) - np.searchsorted(np.sort(true), true)) / ranks).mean()
    return precisions


def dev_scores(logits: LabelScores, targets: Targets, weights: Weights = None) -> dict[str, float]:
    """Dev scores by name, with the one shared threshold that maximises micro F1; the loss is the mean
    binary cross-entropy per label, in nats. Texts have the weights `weights`."""
    label_weights = None if weights is None else np.repeat(weights, targets.shape[1])
    threshold, f1 = best_threshold(logits.ravel(), targets.ravel(), label_weights)
    rates = set_rates(logits, np.full(targets.shape[1], threshold), targets, weights)
    return {
        "f1": f1,
        "macro_f1": rates["macro_f1"],
        "accuracy": rates["subset_accuracy"],
        "loss": mean_binary_loss(logits, targets, weights),
    }


def set_rates(
    scores: LabelScores, thresholds: NDArray[np.float64], targets: Targets, weights: Weights = None
) -> dict[str, float]:
    """Weighted micro F1, macro F1 and subset accuracy, see `MultiLabelScores`. A text of weight 2 counts as
    two texts, one of weight 0 is ignored."""
    predicted = scores >= thresholds
    counts = np.ones(len(targets)) if weights is None else np.asarray(weights, dtype=np.float64)
    hits, taken, held = (counts @ part for part in (predicted & targets, predicted, targets))
    both = held + taken
    occurring = both > 0
    return {
        "micro_f1": float(2 * hits.sum() / both.sum()) if occurring.any() else 1.0,
        "macro_f1": float((2 * hits[occurring] / both[occurring]).mean()) if occurring.any() else 0.0,
        "subset_accuracy": float(np.average((predicted == targets).all(1), weights=counts)),
    }


def ranking_rates(scores: LabelScores, targets: Targets, weights: Weights = None) -> dict[str, float]:
    """Weighted label ranking average precision and mean average precision, see `MultiLabelScores`."""
    areas = [area for area in _areas(scores, targets, weights) if area is not None]
    return {
        "ranking": float(np.average(ranking_precision(scores, targets), weights=weights)),
        "mean_average_precision": float(np.mean(areas)) if areas else 0.0,
    }


def _areas(scores: LabelScores, targets: Targets, weights: Weights = None) -> list[float | None]:
    """The average precision of each label; None for labels that no text of positive weight has."""
    from sklearn.metrics import average_precision_score  # slow to load, and predictions do without

    if weights is not None:
        counted = weights > 0
        scores, targets, weights = scores[counted], targets[counted], weights[counted]
    return [
        float(average_precision_score(label_targets, label_scores, sample_weight=weights))
        if label_targets.any()
        else None
        for label_targets, label_scores in zip(targets.T, scores.T, strict=True)
    ]


def _f1(hits: NDArray, predicted: NDArray, held: NDArray) -> NDArray[np.float64]:
    """F1 of counts, arrays of equal shapes; 0 where a label is neither true nor predicted."""
    return 2 * hits / np.maximum(predicted + held, 1)


def _macro_interval(hits: Targets, predicted: Targets, targets: Targets) -> tuple[float, float]:
    occurring = (predicted | targets).any(0)
    if not occurring.any():
        return 0.0, 0.0
    parts = [part[:, occurring].astype(np.float32) for part in (hits, predicted, targets)]
    sampled_scores = []
    for draws in _drawn(len(targets)):
        counted, taken, held = (draws @ part for part in parts)
        seen = taken + held > 0
        sums = _f1(counted, taken, held).sum(1, where=seen)
        sampled_scores.append(sums / np.maximum(seen.sum(1), 1))
    return central_interval(np.concatenate(sampled_scores))


def _mean_interval(values: NDArray[np.float64]) -> tuple[float, float]:
    means = [draws @ values / len(values) for draws in _drawn(len(values))]
    return central_interval(np.concatenate(means))


def _drawn(texts: int) -> Iterator[NDArray[np.float32]]:
    """Bootstrap samples in batches: how often each text is drawn, `[draws, texts]`."""
    random = np.random.Generator(np.random.PCG64(0))
    at_once = max(1, min(_DRAWS, 4_000_000 // texts))
    shares = np.full(texts, 1 / texts)
    for start in range(0, _DRAWS, at_once):
        yield random.multinomial(texts, shares, size=min(at_once, _DRAWS - start)).astype(np.float32)
