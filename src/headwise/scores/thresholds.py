"""From scores of labels to sets of labels: a threshold for each label, fitted on held-out texts.

Which threshold gives the best F1 depends on the label (Lipton, Elkan, Naryanaswamy; ECML 2014): it is lower
for labels that are rare or hard. So each has its own, tuned on dev (SCut; Yang, SIGIR 2001), but labels
with few texts there, whose best threshold is mostly chance: those share one, tuned on all labels together.

Where a text has one label, it gets the one whose probability is the most times its threshold; with two
labels that is a threshold as anybody knows it. They are tuned for the macro F1, in which rare labels count
as much as others.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from headwise.config import check_range

Scores = NDArray[np.floating]
"""`[texts, labels]`, larger for labels that are more likely."""
Targets = NDArray[np.bool_]
"""`[texts, labels]`: whether a text has a label."""

_ROUNDS, _STEPS, _FARTHEST = 3, 65, 50.0


@dataclass(frozen=True)
class ThresholdConfig:
    """From probabilities to labels: the thresholds that are fitted on dev."""

    min_texts: int = 10
    """A label with fewer dev texts takes the threshold that is best for all labels together."""

    def __post_init__(self) -> None:
        check_range(self, "min_texts", low=1)


def best_threshold(
    scores: NDArray[np.floating], targets: NDArray[np.bool_], least: float | None = None
) -> tuple[float, float]:
    """The threshold with the best F1 of `scores >= threshold`, and that F1.

    It lies halfway between two scores; of equally good ones it is the highest. Where the best is to take
    all, the scores do not say where others would begin, so it lies well below them: new texts, or a model
    that is trained again, may have slightly lower ones.

    Args:
        scores: `[n]`, finite.
        targets: `[n]`.
        least: What no score is below, such as 0 of probabilities; None where there is no such bound, as for
            margins, of which 1 is much.

    Returns:
        `(threshold, F1)`; above all scores, and 0, where there are no positives.
    """
    order = np.argsort(-scores, kind="stable")
    ranked, hits = scores[order].astype(np.float64), np.cumsum(targets[order])
    if len(ranked) == 0 or hits[-1] == 0:
        return (float(scores.max()) + 1e-9 if len(scores) else 0.5), 0.0
    taken = np.arange(1, len(ranked) + 1)
    f1 = 2 * hits / (taken + hits[-1])
    # Equal scores are above the threshold together or not at all.
    last = np.append(ranked[1:] < ranked[:-1], True)
    best = int(np.argmax(np.where(last, f1, -1.0)))
    under = ranked[best] - 2.0 if least is None else least
    below = ranked[best + 1] if best + 1 < len(ranked) else under
    return float((ranked[best] + below) / 2), float(f1[best])


def fit_thresholds(
    scores: Scores, targets: Targets, min_texts: int = 10, least: float | None = None
) -> NDArray[np.float64]:
    """The threshold of each label, `[labels]`.

    Args:
        scores: Of held-out texts.
        targets: Their labels.
        min_texts: See `ThresholdConfig`.
        least: See `best_threshold`.
    """
    shared = best_threshold(scores.ravel(), targets.ravel(), least)[0]
    own = [
        best_threshold(scores[:, label], targets[:, label], least)[0]
        if targets[:, label].sum() >= min_texts
        else shared
        for label in range(scores.shape[1])
    ]
    return np.array(own, dtype=np.float64)


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
    probabilities: NDArray[np.floating], targets: NDArray[np.int64], min_texts: int = 10
) -> list[float]:
    """Thresholds for `decide` with the best macro F1, label by label in turn; they add up to 1.

    Args:
        probabilities: Of held-out texts, `[texts, labels]`.
        targets: Their label numbers.
        min_texts: A label with fewer texts keeps its first threshold, the same as of all.
    """
    labels = probabilities.shape[1]
    counts, found = np.bincount(targets, minlength=labels), np.ones(labels)
    best = _macro_f1(decide(probabilities, found.tolist()), targets, labels)
    for _, label in product(range(_ROUNDS), np.flatnonzero(counts >= min_texts)):
        others = probabilities / found
        others[:, label] = -1.0
        rival, place = others.max(axis=1), others.argmax(axis=1)
        ratio = probabilities[:, label] / rival.clip(1e-12)
        steps = np.unique(np.quantile(ratio.clip(1 / _FARTHEST, _FARTHEST), np.linspace(0, 1, _STEPS)))
        for step in (steps[1:] * steps[:-1]) ** 0.5:
            score = _macro_f1(np.where(ratio >= step, label, place), targets, labels)
            if score > best + 1e-9:
                best, found[label] = score, step
    return (found / found.sum()).tolist()


def _macro_f1(given: NDArray[np.int64], targets: NDArray[np.int64], labels: int) -> float:
    right = np.bincount(targets[given == targets], minlength=labels)
    counts = np.bincount(targets, minlength=labels) + np.bincount(given, minlength=labels)
    return float((2 * right[counts > 0] / counts[counts > 0]).mean())
