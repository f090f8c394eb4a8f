"""Decision thresholds of labels, fitted on held-out texts.

For label sets, the threshold with the best F1 depends on the label (Lipton, Elkan, Naryanaswamy; ECML
2014): it is lower for labels that are rare or hard. So each label has its own threshold, tuned on dev
(SCut; Yang, SIGIR 2001). For a label with few dev texts the best threshold is mostly chance, so it is
shrunk towards a threshold that all labels share.

With one label per text, the predicted label is the one with the largest ratio of probability to threshold;
for two labels that is an ordinary threshold. The thresholds are tuned for macro F1, in which rare labels
count as much as others, and shrunk where a gain could be chance.
"""

from collections.abc import Sequence
from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from headwise.core.activations import expit, logit

LabelScores = NDArray[np.floating]
"""Scores of labels, larger for more likely ones, `[texts, labels]`."""
Targets = NDArray[np.bool_]
"""Whether each text has each label, `[texts, labels]`."""
Weights = NDArray[np.floating] | None
"""The weight of each text, `[texts]`; None for equal weights."""

_REACH, _BLUR, _PULL = 6.0, 0.3, 2.0
"""For thresholds of label sets: the largest distance from the shared threshold (in logits), the bandwidth
of the smoothing kernel, and the penalty of a step of 1 (a factor e), in texts of the label.

Chosen on the scores of nine models on real label sets (4 to 103 labels) and on nine synthetic ones, fitted
on 60 to 1,000 texts, by the F1 on other texts: docs/evidence/trials.md has the gains."""
_ROUNDS, _FARTHEST, _STEPS = 3, 4.0, 161
_LEAST = 10  # texts of a label whose threshold may change
_SMOOTH, _WORTH = 0.8, 8.0
"""For single-label thresholds: the bandwidth of the smoothing kernel, and the penalty of a step of 1 (a
factor e), in texts of the label.

Chosen on synthetic data, by the macro F1 on new texts (two labels, the rarer one with 20 of 4,000 to 500 of
1,000 texts; four to seven labels, 300 to 4,000 texts; probabilities that are calibrated, overconfident and
underconfident), and tested on other data: macro F1 is 0.005 to 0.023 above that of the most probable label
where a label is rare, and at most 0.002 below where none is. The best thresholds on dev gain half of that,
and lose up to 0.016 where dev is small."""


def best_threshold(
    scores: NDArray[np.floating], targets: NDArray[np.bool_], weights: Weights = None
) -> tuple[float, float]:
    """The threshold with the best F1 of `scores >= threshold`, and that F1.

    The threshold lies halfway between two scores; of equally good thresholds it is the highest. If the best
    choice is to accept all, it lies 1 below the lowest score, as new texts, or a retrained model, may have
    slightly lower scores.

    Args:
        scores: Finite scores, `[n]`.
        targets: Whether each is positive, `[n]`.
        weights: The weight of each, `[n]`.

    Returns:
        `(threshold, F1)`; above all scores, and 0, where there are no positives.
    """
    counts = np.ones(len(scores)) if weights is None else np.asarray(weights, dtype=np.float64)
    counted = counts > 0
    scores, targets, counts = scores[counted], targets[counted], counts[counted]
    order = np.argsort(-scores, kind="stable")
    ranked, hits = scores[order].astype(np.float64), np.cumsum((targets * counts)[order])
    if len(ranked) == 0 or hits[-1] == 0:
        return (float(scores.max()) + 1e-9 if len(scores) else 0.5), 0.0
    taken = np.cumsum(counts[order])
    f1 = 2 * hits / (taken + hits[-1])
    # Tied scores are all above the threshold or all below it.
    last = np.append(ranked[1:] < ranked[:-1], True)
    best = int(np.argmax(np.where(last, f1, -1.0)))
    below = ranked[best + 1] if best + 1 < len(ranked) else ranked[best] - 2.0
    return float((ranked[best] + below) / 2), float(f1[best])


def fit_thresholds(
    logits: LabelScores, targets: Targets, min_texts: int = 1, weights: Weights = None
) -> NDArray[np.float64]:
    """The threshold of each label, in logits, `[labels]`.

    Each threshold is shrunk towards a shared one. The shared threshold is shrunk towards half of the F1
    that the probabilities predict, which is optimal for calibrated probabilities (Lipton et al.). Where no
    text has a label, all of them lie at a probability of 1/2: every threshold has an F1 of 0.

    Args:
        logits: The calibrated logits of held-out texts.
        targets: Their labels.
        min_texts: See `ThresholdConfig`.
        weights: The weight of each text, with mean 1, `[texts]`.
    """
    counts = np.ones(len(logits)) if weights is None else np.asarray(weights, dtype=np.float64)
    counted = counts > 0
    logits, targets, counts = logits[counted], targets[counted], counts[counted]
    if not targets.any():
        return np.zeros(logits.shape[1])
    label_counts = np.repeat(counts, logits.shape[1])
    shared = _shrunk_threshold(
        logits.ravel(), targets.ravel(), label_counts, _calibrated_threshold(logits.ravel(), label_counts)
    )
    thresholds = np.full(logits.shape[1], shared)
    for label in np.flatnonzero(targets.sum(axis=0) >= min_texts):
        thresholds[label] = _shrunk_threshold(logits[:, label], targets[:, label], counts, shared)
    return thresholds


def _calibrated_threshold(logits: LabelScores, weights: NDArray[np.float64]) -> float:
    """The optimal threshold for calibrated probabilities, in logits."""
    chances = expit(logits.astype(np.float64))
    if not len(chances):
        return 0.0
    order = np.argsort(-chances)
    hits, taken = (chances * weights)[order].cumsum(), weights[order].cumsum()
    best = (2 * hits / (taken + hits[-1])).max()
    return float(logit(best / 2))


def _weight_from(
    values: LabelScores, weights: NDArray[np.float64], steps: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The total weight of the values that are at least as large as each step, `[steps]`."""
    order = np.argsort(values)
    above = np.append(weights[order][::-1].cumsum()[::-1], 0.0)
    return above[np.searchsorted(values[order], steps)]


def _shrunk_threshold(
    logits: LabelScores, targets: Targets, weights: NDArray[np.float64], first: float
) -> float:
    """The threshold, in logits, with the best smoothed F1 minus a quadratic penalty on its distance from
    `first`: a distance of 1 (a factor e) costs the worth of 2 texts, a distance of 2 that of 8."""
    count = weights[targets].sum()
    if not count:
        return first
    steps, kernel = _smoothing_kernel(_REACH, 241, _BLUR)
    predicted_counts = _weight_from(logits, weights, first + steps)
    hits = _weight_from(logits[targets], weights[targets], first + steps)
    scores = kernel @ (2 * hits / (predicted_counts + count))
    return first + float(steps[np.argmax(scores - _PULL * steps**2 / count)])


@cache
def _smoothing_kernel(
    farthest: float, count: int, far: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Steps on both sides of 0, `[steps]`, and the normalised Gaussian smoothing kernel between them,
    `[steps, steps]`."""
    steps = np.linspace(-farthest, farthest, count)
    kernel = np.exp(-0.5 * ((steps[:, None] - steps) / far) ** 2)
    return steps, kernel / kernel.sum(axis=1, keepdims=True)


def predict_labels(
    probabilities: NDArray[np.floating], thresholds: Sequence[float] | None = None
) -> NDArray[np.int64]:
    """The index of the predicted label of each text: the most probable label, or with thresholds the label
    with the largest ratio of probability to threshold.

    Args:
        probabilities: `[..., labels]`.
        thresholds: `[labels]`, above 0; None for the most probable label.
    """
    return (probabilities if thresholds is None else probabilities / np.array(thresholds)).argmax(axis=-1)


def fit_label_thresholds(
    probabilities: NDArray[np.floating],
    targets: NDArray[np.int64],
    weights: Weights = None,
) -> list[float]:
    """Thresholds for `predict_labels` with a good macro F1, by coordinate ascent over labels; they add up
    to 1.

    The best threshold on dev is partly chance. So the macro F1 is smoothed over nearby thresholds, and a
    quadratic penalty applies: a change by a factor e costs the worth of 8 texts of the label, a change by e
    squared that of 32. A label with fewer than 10 texts keeps the initial threshold, equal for all.

    Args:
        probabilities: The probabilities of held-out texts, `[texts, labels]`.
        targets: Their label indices, `[texts]`.
        weights: The weight of each text, with mean 1, `[texts]`.
    """
    labels = probabilities.shape[1]
    importance = np.ones(len(targets)) if weights is None else np.asarray(weights, dtype=np.float64)
    counts, log_thresholds = np.bincount(targets, importance, minlength=labels), np.zeros(labels)
    steps, kernel = _smoothing_kernel(_FARTHEST, _STEPS, _SMOOTH)
    logs = np.log(probabilities.clip(1e-12))
    for _, label in product(range(_ROUNDS), np.flatnonzero(counts >= _LEAST).tolist()):
        other_logs = logs - log_thresholds
        other_logs[:, label] = -np.inf
        place = other_logs.argmax(axis=1)
        ahead = logs[:, label] - other_logs.max(axis=1)
        scores = kernel @ _macro_f1(ahead, steps, label, place, targets, labels, importance)
        log_thresholds[label] = steps[np.argmax(scores - _WORTH * steps**2 / (counts[label] * labels))]
    thresholds = np.exp(log_thresholds)
    return (thresholds / thresholds.sum()).tolist()


def _macro_f1(
    ahead: NDArray[np.floating],
    steps: NDArray[np.floating],
    label: int,
    place: NDArray[np.int64],
    targets: NDArray[np.int64],
    labels: int,
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The macro F1 at each threshold of `ahead`, `[steps]`: the label is predicted where its log-ratio is
    at least the threshold.

    Args:
        ahead: The log-ratio of the label to the best other label, `[texts]`.
        steps: Thresholds of `ahead`, in ascending order, `[steps]`.
        label: The index of the label.
        place: The index of the label that is otherwise predicted, `[texts]`.
        targets: The true label indices, `[texts]`.
        labels: The number of labels.
        weights: The weight of each text, `[texts]`.
    """
    reached = np.searchsorted(steps, ahead, side="right")  # the label is predicted up to this step

    def moved(texts: NDArray[np.bool_], of: NDArray[np.int64]) -> NDArray[np.float64]:
        """The weight of `texts` for which the label is predicted, by their label `of`, `[steps,
        labels]`."""
        size = (len(steps) + 1) * labels
        cells = (reached * labels + of)[texts]
        table = np.bincount(cells, weights[texts], minlength=size).reshape(-1, labels)
        return table[::-1].cumsum(axis=0)[::-1][1:]

    every, hit = np.ones(len(ahead), dtype=bool), place == targets
    predicted_counts = np.bincount(place, weights, minlength=labels) - moved(every, place)
    right = np.bincount(place[hit], weights[hit], minlength=labels) - moved(hit, place)
    predicted_counts[:, label] = moved(every, place).sum(axis=1)
    right[:, label] = moved(targets == label, targets)[:, label]
    counts = np.bincount(targets, weights, minlength=labels) + predicted_counts
    f1 = 2 * right / counts.clip(1e-9)
    return f1.sum(axis=1) / (counts > 1e-9).sum(axis=1)
