"""How good predicted sets of labels are, with intervals that say how far a test set can be trusted."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.scores.binary import mean_binary_loss
from headwise.scores.metrics import middle_of, wilson_interval
from headwise.scores.resample import Counts, ScoreDifference, bootstrap_interval, compare_counts
from headwise.scores.thresholds import Scores, Targets, Weights, best_threshold

_DRAWS = 1_000  # of texts, for intervals of scores that are no counts


@dataclass(frozen=True)
class SetLabelScore:
    """Scores of one label.

    Attributes:
        label: Its name.
        precision: Share of the texts given this label that have it; 0 where none is given it.
        recall: Share of the texts with this label that are given it; 0 where none has it.
        f1: Harmonic mean of both.
        average_precision: Area under the curve of precision over recall, as scikit-learn defines it; None
            where no text has the label.
        texts: Texts that have it.
        threshold: The least probability with which it is given.
    """

    label: str
    precision: float
    recall: float
    f1: float
    average_precision: float | None
    texts: int
    threshold: float


@dataclass(frozen=True)
class LabelSetScores:
    """How near predicted sets of labels are to the true ones.

    Attributes:
        texts: How many.
        micro_f1: F1 over all pairs of a text and a label.
        micro_f1_interval: 95 % bootstrap interval of it, over texts.
        micro_precision: Share of the given labels that are right; 0 where none is given.
        micro_recall: Share of the true labels that are given; 0 where there are none.
        macro_f1: Mean F1 of the labels that some text has or is given.
        macro_f1_interval: 95 % bootstrap interval of it, over texts.
        subset_accuracy: Share of texts of which all labels are right.
        subset_accuracy_interval: 95 % interval of it (Wilson).
        ranking: Mean over texts of the label ranking average precision: how many of the labels ranked above
            a true one are true (1 for texts that have none or all).
        ranking_interval: 95 % bootstrap interval of it.
        mean_average_precision: Mean of the labels' average precision, over labels that some text has.
        labels: Per label.
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
    labels: tuple[SetLabelScore, ...]


def label_set_scores(
    scores: Scores, thresholds: NDArray[np.float64], targets: Targets, labels: Sequence[str]
) -> LabelSetScores:
    """Scores of probabilities (or other scores of labels) and thresholds against the true sets.

    Args:
        scores: Of each label.
        thresholds: A label is given from this score on, `[labels]`.
        targets: The true labels.
        labels: Their names.

    Raises:
        ValueError: There are no texts.
    """
    texts = len(targets)
    if texts == 0:
        raise ValueError("no texts to score")
    given = scores >= thresholds
    hits, taken, held = given & targets, given.sum(0), targets.sum(0)
    counted = hits.sum(0)
    f1 = _f1(counted, taken, held)
    known = held + taken > 0
    areas = _areas(scores, targets)
    found = [area for area in areas if area is not None]
    counts = set_counts(given, targets)
    ranking = ranking_precision(scores, targets)
    exact = int((given == targets).all(1).sum())
    return LabelSetScores(
        texts=texts,
        micro_f1=float(micro_f1(counts.sum(0))),
        micro_f1_interval=bootstrap_interval(counts, micro_f1),
        micro_precision=float(counted.sum() / max(taken.sum(), 1)),
        micro_recall=float(counted.sum() / max(held.sum(), 1)),
        macro_f1=float(f1[known].mean()) if known.any() else 0.0,
        macro_f1_interval=_macro_interval(hits, given, targets),
        subset_accuracy=exact / texts,
        subset_accuracy_interval=wilson_interval(exact, texts),
        ranking=float(ranking.mean()),
        ranking_interval=_mean_interval(ranking),
        mean_average_precision=float(np.mean(found)) if found else 0.0,
        labels=tuple(
            SetLabelScore(
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


def set_counts(given: Targets, targets: Targets) -> Counts:
    """What micro F1 is made of, text by text: right labels, given labels, true labels; `[texts, 3]`."""
    return np.stack([(given & targets).sum(1), given.sum(1), targets.sum(1)], axis=1).astype(np.int64)


def micro_f1(counts: NDArray[np.integer]) -> NDArray[np.float64]:
    """Micro F1 of summed counts, `[..., 3] -> [...]`; 1 where no label is true and none given."""
    hits, given, held = np.moveaxis(counts, -1, 0)
    total = given + held
    return np.where(total > 0, 2 * hits / np.maximum(total, 1), 1.0)


def compare_sets(first: Targets, second: Targets, targets: Targets) -> ScoreDifference:
    """The micro F1 of two models' label sets on the same texts."""
    return compare_counts(set_counts(first, targets), set_counts(second, targets), micro_f1)


def ranking_precision(scores: Scores, targets: Targets) -> NDArray[np.float64]:
    """Label ranking average precision of each text, `[texts]` (Schapire, Singer 2000); equal scores share
    the worst of their ranks, and texts with no label or all of them have 1."""
    found = np.ones(len(targets))
    for text, (row, own) in enumerate(zip(scores, targets, strict=True)):
        true = row[own]
        if 0 < len(true) < len(row):
            ranks = len(row) - np.searchsorted(np.sort(row), true)
            found[text] = ((len(true) - np.searchsorted(np.sort(true), true)) / ranks).mean()
    return found


def dev_scores(logits: Scores, targets: Targets, weights: Weights = None) -> dict[str, float]:
    """Scores on dev by name, with the one threshold that is best there for all labels together; the loss is
    the mean binary cross-entropy of a label, in nats. Texts count as `weights` say."""
    each = None if weights is None else np.repeat(weights, targets.shape[1])
    threshold, f1 = best_threshold(logits.ravel(), targets.ravel(), each)
    rates = set_rates(logits, np.full(targets.shape[1], threshold), targets, weights)
    return {
        "f1": f1,
        "macro_f1": rates["macro_f1"],
        "accuracy": rates["subset_accuracy"],
        "loss": mean_binary_loss(logits, targets, weights),
    }


def set_rates(
    scores: Scores, thresholds: NDArray[np.float64], targets: Targets, weights: Weights = None
) -> dict[str, float]:
    """Micro and macro F1 and the share of texts of which all labels are right, see `LabelSetScores`, where
    texts count as `weights` say: one with the weight 2 as two, one with the weight 0 not at all."""
    given = scores >= thresholds
    counts = np.ones(len(targets)) if weights is None else np.asarray(weights, dtype=np.float64)
    hits, taken, held = (counts @ part for part in (given & targets, given, targets))
    both = held + taken
    known = both > 0
    return {
        "micro_f1": float(2 * hits.sum() / both.sum()) if known.any() else 1.0,
        "macro_f1": float((2 * hits[known] / both[known]).mean()) if known.any() else 0.0,
        "subset_accuracy": float(np.average((given == targets).all(1), weights=counts)),
    }


def ranking_rates(scores: Scores, targets: Targets, weights: Weights = None) -> dict[str, float]:
    """How well scores rank the labels of a text, and the texts of a label, likewise."""
    areas = [area for area in _areas(scores, targets, weights) if area is not None]
    return {
        "ranking": float(np.average(ranking_precision(scores, targets), weights=weights)),
        "mean_average_precision": float(np.mean(areas)) if areas else 0.0,
    }


def _areas(scores: Scores, targets: Targets, weights: Weights = None) -> list[float | None]:
    """The average precision of each label; None of those that no text has which counts."""
    from sklearn.metrics import average_precision_score  # slow to load, and predictions do without

    if weights is not None:
        kept = weights > 0
        scores, targets, weights = scores[kept], targets[kept], weights[kept]
    return [
        float(average_precision_score(own, said, sample_weight=weights)) if own.any() else None
        for own, said in zip(targets.T, scores.T, strict=True)
    ]


def _f1(hits: Any, given: Any, held: Any) -> NDArray[np.float64]:
    """F1 of counts, arrays of equal shapes; 0 where a label is neither true nor given."""
    return 2 * hits / np.maximum(given + held, 1)


def _macro_interval(hits: Targets, given: Targets, targets: Targets) -> tuple[float, float]:
    known = (given | targets).any(0)
    if not known.any():
        return 0.0, 0.0
    parts = [part[:, known].astype(np.float32) for part in (hits, given, targets)]
    found = []
    for draws in _drawn(len(targets)):
        counted, taken, held = (draws @ part for part in parts)
        seen = taken + held > 0
        sums = _f1(counted, taken, held).sum(1, where=seen)
        found.append(sums / np.maximum(seen.sum(1), 1))
    return middle_of(np.concatenate(found))


def _mean_interval(values: NDArray[np.float64]) -> tuple[float, float]:
    means = [draws @ values / len(values) for draws in _drawn(len(values))]
    return middle_of(np.concatenate(means))


def _drawn(texts: int) -> Iterator[NDArray[np.float32]]:
    """How often each text is drawn, with replacement, `[draws, texts]`, some draws at a time."""
    random = np.random.Generator(np.random.PCG64(0))
    at_once = max(1, min(_DRAWS, 4_000_000 // texts))
    shares = np.full(texts, 1 / texts)
    for start in range(0, _DRAWS, at_once):
        yield random.multinomial(texts, shares, size=min(at_once, _DRAWS - start)).astype(np.float32)
