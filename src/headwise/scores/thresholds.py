"""From scores of labels to sets of labels: a threshold for each label, fitted on held-out texts.

Which threshold gives the best F1 depends on the label (Lipton, Elkan, Naryanaswamy; ECML 2014): it is
lower for labels that are rare or hard. So each has its own, tuned on dev (SCut; Yang, SIGIR 2001). The best
one on dev is mostly chance where a label has few texts there, so it is held back towards one that all
labels share.

Where a text has one label, it gets the one whose probability is the most times its threshold; with two
labels that is a threshold as anybody knows it. They are tuned for the macro F1, in which rare labels count
as much as others, and held back where it could be chance.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from headwise.config import check_range

Scores = NDArray[np.floating]
"""`[texts, labels]`, larger for labels that are more likely."""
Targets = NDArray[np.bool_]
"""`[texts, labels]`: whether a text has a label."""
Weights = NDArray[np.floating] | None
"""How much each text counts, `[texts]`; None where all count the same."""

_REACH, _BLUR, _PULL = 6.0, 0.3, 2.0
"""Of the thresholds of label sets: how far from the shared one they may be (in logits), how far those seen
together are, and how many texts of a label a step is worth that is e times off.

Chosen on what nine models say of real label sets (4 to 103 labels) and on nine drawn ones, fitted on 60 to
1,000 of their texts, by the F1 on others: docs/choices.md has what it gains."""
_ROUNDS, _FARTHEST, _STEPS = 3, 4.0, 161
_SMOOTH, _WORTH = 0.8, 8.0
"""How far steps are seen together, and how many texts of a label a step is worth that is e times off.

Chosen on drawn data, by the macro F1 on new texts (two labels, the rarer one of 20 texts in 4,000 to 500 in
1,000; four to seven labels of 300 to 4,000 texts; probabilities that are right, too sure, not sure enough),
and tried on others: .005 to .023 above the most probable label where one is rare, and .002 below at most
where none is. The best thresholds on dev gain half of that, and lose up to .016 where dev is small."""


@dataclass(frozen=True)
class ThresholdConfig:
    """From probabilities to labels: the thresholds that are fitted on dev."""

    min_texts: int = 1
    """A label with fewer dev texts takes the threshold that is best for all labels together; that of others
    is held back towards it."""

    def __post_init__(self) -> None:
        check_range(self, "min_texts", low=1)


def best_threshold(
    scores: NDArray[np.floating],
    targets: NDArray[np.bool_],
    weights: Weights = None,
) -> tuple[float, float]:
    """The threshold with the best F1 of `scores >= threshold`, and that F1.

    It lies halfway between two scores; of equally good ones it is the highest. Where the best is to take
    all, the scores do not say where others would begin, so it lies 1 below them: new texts, or a model that
    is trained again, may have slightly lower ones.

    Args:
        scores: `[n]`, finite.
        targets: `[n]`.
        weights: How much each counts, `[n]`.

    Returns:
        `(threshold, F1)`; above all scores, and 0, where there are no positives.
    """
    counts = np.ones(len(scores)) if weights is None else np.asarray(weights, dtype=np.float64)
    kept = counts > 0
    scores, targets, counts = scores[kept], targets[kept], counts[kept]
    order = np.argsort(-scores, kind="stable")
    ranked, hits = scores[order].astype(np.float64), np.cumsum((targets * counts)[order])
    if len(ranked) == 0 or hits[-1] == 0:
        return (float(scores.max()) + 1e-9 if len(scores) else 0.5), 0.0
    taken = np.cumsum(counts[order])
    f1 = 2 * hits / (taken + hits[-1])
    # Equal scores are above the threshold together or not at all.
    last = np.append(ranked[1:] < ranked[:-1], True)
    best = int(np.argmax(np.where(last, f1, -1.0)))
    below = ranked[best + 1] if best + 1 < len(ranked) else ranked[best] - 2.0
    return float((ranked[best] + below) / 2), float(f1[best])


def fit_thresholds(
    logits: Scores,
    targets: Targets,
    min_texts: int = 1,
    weights: Weights = None,
) -> NDArray[np.float64]:
    """The threshold of each label, in logits, `[labels]`.

    Every label is held back towards one that all share, and that one towards half of the F1 that the
    probabilities themselves promise, which is the best threshold where they are right (Lipton et al.).

    Args:
        logits: Of held-out texts, calibrated.
        targets: Their labels.
        min_texts: See `ThresholdConfig`.
        weights: How much each text counts, 1 in the mean, `[texts]`.
    """
    counts = np.ones(len(logits)) if weights is None else np.asarray(weights, dtype=np.float64)
    kept = counts > 0
    logits, targets, counts = logits[kept], targets[kept], counts[kept]
    each = np.repeat(counts, logits.shape[1])
    shared = _held_back(logits.ravel(), targets.ravel(), each, _promised(logits.ravel(), each))
    found = np.full(logits.shape[1], shared)
    for label in np.flatnonzero(targets.sum(axis=0) >= min_texts):
        found[label] = _held_back(logits[:, label], targets[:, label], counts, shared)
    return found


def _promised(logits: Scores, counts: NDArray[np.float64]) -> float:
    """The threshold that is best where probabilities are right, in logits."""
    chances = expit(logits.astype(np.float64))
    if not len(chances):
        return 0.0
    order = np.argsort(-chances)
    hits, taken = (chances * counts)[order].cumsum(), counts[order].cumsum()
    best = (2 * hits / (taken + hits[-1])).max()
    return float(logit(best / 2))


def _from(values: Scores, counts: NDArray[np.float64], steps: NDArray[np.float64]) -> NDArray[np.float64]:
    """How much the values count that are as large as each of the steps, or larger, `[steps]`."""
    order = np.argsort(values)
    above = np.append(counts[order][::-1].cumsum()[::-1], 0.0)
    return above[np.searchsorted(values[order], steps)]


def _held_back(logits: Scores, targets: Targets, counts: NDArray[np.float64], first: float) -> float:
    """The threshold with the best mean F1 around it, where one that is e times as high or as low as the
    `first` has to gain as much as 2 texts are worth, and one that is e squared times so, as much as 8."""
    count = counts[targets].sum()
    if not count:
        return first
    steps, near = _seen_together(_REACH, 241, _BLUR)
    given = _from(logits, counts, first + steps)
    hits = _from(logits[targets], counts[targets], first + steps)
    scores = near @ (2 * hits / (given + count))
    return first + float(steps[np.argmax(scores - _PULL * steps**2 / count)])


@cache
def _seen_together(
    farthest: float, count: int, far: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Steps to both sides of 0, `[steps]`, and how much each counts in the mean around another,
    `[steps, steps]`."""
    steps = np.linspace(-farthest, farthest, count)
    near = np.exp(-0.5 * ((steps[:, None] - steps) / far) ** 2)
    return steps, near / near.sum(axis=1, keepdims=True)


def decide(
    probabilities: NDArray[np.floating], thresholds: Sequence[float] | None = None
) -> NDArray[np.int64]:
    """The number of the label that each text gets: the most probable one, or the one whose probability is
    the most times its threshold.

    Args:
        probabilities: `[..., labels]`.
        thresholds: `[labels]`, above 0; None for the most probable.
    """
    return (probabilities if thresholds is None else probabilities / np.array(thresholds)).argmax(axis=-1)


def fit_label_thresholds(
    probabilities: NDArray[np.floating],
    targets: NDArray[np.int64],
    min_texts: int = 10,
    weights: Weights = None,
) -> list[float]:
    """Thresholds for `decide` with a good macro F1, label by label in turn; they add up to 1.

    The best one on dev is partly chance. So what counts is the mean of the macro F1 around a threshold; and
    one that is e times as high or as low as at first has to gain as much as 8 texts of the label are worth,
    one that is e squared times so, as much as 32.

    Args:
        probabilities: Of held-out texts, `[texts, labels]`.
        targets: Their label numbers.
        min_texts: A label with fewer texts keeps its first threshold, the same as of all.
        weights: How much each text counts, 1 in the mean, `[texts]`.
    """
    labels = probabilities.shape[1]
    importance = np.ones(len(targets)) if weights is None else np.asarray(weights, dtype=np.float64)
    counts, found = np.bincount(targets, importance, minlength=labels), np.zeros(labels)
    steps, near = _seen_together(_FARTHEST, _STEPS, _SMOOTH)
    logs = np.log(probabilities.clip(1e-12))
    for _, label in product(range(_ROUNDS), np.flatnonzero(counts >= min_texts).tolist()):
        others = logs - found
        others[:, label] = -np.inf
        place = others.argmax(axis=1)
        ahead = logs[:, label] - others.max(axis=1)
        scores = near @ _macro_f1(ahead, steps, label, place, targets, labels, importance)
        found[label] = steps[np.argmax(scores - _WORTH * steps**2 / (counts[label] * labels))]
    thresholds = np.exp(found)
    return (thresholds / thresholds.sum()).tolist()


def _macro_f1(
    ahead: NDArray[np.floating],
    steps: NDArray[np.floating],
    label: int,
    place: NDArray[np.int64],
    targets: NDArray[np.int64],
    labels: int,
    importance: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The macro F1 where a label is given to the texts in which it is so far ahead, `[steps]`.

    Args:
        ahead: Of the best of the other labels, `[texts]`.
        steps: How far it has to be ahead, in ascending order.
        label: Its number.
        place: That of the label which a text gets otherwise.
        targets: The true ones.
        labels: How many there are.
        importance: How much each text counts, `[texts]`.
    """
    reached = np.searchsorted(steps, ahead, side="right")  # the text has the label up to this step

    def moved(texts: NDArray[np.bool_], of: NDArray[np.int64]) -> NDArray[np.float64]:
        """How many of some texts have the label, by another of theirs, `[steps, labels]`."""
        size = (len(steps) + 1) * labels
        cells = (reached * labels + of)[texts]
        table = np.bincount(cells, importance[texts], minlength=size).reshape(-1, labels)
        return table[::-1].cumsum(axis=0)[::-1][1:]

    every, hit = np.ones(len(ahead), dtype=bool), place == targets
    given = np.bincount(place, importance, minlength=labels) - moved(every, place)
    right = np.bincount(place[hit], importance[hit], minlength=labels) - moved(hit, place)
    given[:, label] = moved(every, place).sum(axis=1)
    right[:, label] = moved(targets == label, targets)[:, label]
    counts = np.bincount(targets, importance, minlength=labels) + given
    f1 = 2 * right / counts.clip(1e-9)
    return f1.sum(axis=1) / (counts > 1e-9).sum(axis=1)
