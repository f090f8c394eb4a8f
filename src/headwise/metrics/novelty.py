"""Novelty scores: how unlike its training texts a text is, and which texts count as out of scope.

Two similarities to the training texts are combined: the largest logit of the model, and the mean cosine of
the text's vector with the nearest vectors of training texts. Both are standardised on held-out texts. How
much the logit counts depends on whether labels are topics (see `logit_weight`), so out-of-scope texts are
not needed. `python -m benchmarks.defaults.unknown --table` compares the alternatives.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.core.config import JsonMapping, JsonObject
from headwise.metrics.classification_scores import wilson_interval
from headwise.metrics.metric_keys import NOVELTY

NEIGHBOURS = 5
"""Number of nearest training texts whose mean similarity counts."""
MAX_REFERENCES = 4_096
"""Maximum number of training texts whose vectors are stored, 0.8 MB with the base `english`."""
LEAST_UNKNOWN = 10
"""Minimum number of out-of-scope texts that choose the weight of the logit."""
WEIGHTS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Weights of the logit that out-of-scope texts choose from."""
_OPINION, _TOPIC, _MOST_WEIGHT = 0.6, 0.75, 2.0
_BINS = 24
_ROWS = 1_024

Doubles = NDArray[np.float64]


def mean_similarities(
    vectors: NDArray[np.floating],
    references: NDArray[np.float32],
    excluded: NDArray[np.bool_] | None = None,
) -> Doubles:
    """The mean cosine of each vector with its `NEIGHBOURS` nearest references, `[texts]`.

    Args:
        vectors: Vectors of texts, `[texts, size]`; a vector of zeros has similarity 0.
        references: Vectors of training texts at length 1, `[references, size]`.
        excluded: Pairs that do not count, `[texts, references]`; a text without other references has
            similarity -1.
    """
    nearest = min(NEIGHBOURS, len(references))
    out = np.zeros(len(vectors))
    if not nearest:
        return out
    for first in range(0, len(vectors), _ROWS):
        rows = slice(first, first + _ROWS)
        cosines = unit_vectors(vectors[rows]) @ references.T
        if excluded is not None:
            cosines[excluded[rows]] = -1
        out[rows] = -np.partition(-cosines, nearest - 1, axis=1)[:, :nearest].mean(axis=1)
    return out


def unit_vectors(vectors: NDArray) -> NDArray[np.float32]:
    """Vectors `[texts, size]` at length 1; those of zeros stay so."""
    values = np.asarray(vectors, dtype=np.float32)
    return values / np.maximum(np.linalg.norm(values, axis=1, keepdims=True), np.float32(1e-12))


def logit_weight(similarities: Doubles, without_label: Doubles) -> float:
    """The weight of the largest logit, from 0 to 2; that of the similarity is 1.

    Where labels are topics, a text is less similar to the training texts without those of its label: its
    logits say how familiar it is. Where labels are opinions or emotions, it is as similar to the rest, and
    logits say nothing of familiarity.

    Args:
        similarities: Mean similarities of held-out texts, `[texts]`.
        without_label: The same, without the references with their labels.
    """
    return topic_weight(auroc(similarities, without_label))


def topic_weight(separation: float) -> float:
    """The weight of the largest logit for an AUROC between similarities with and without the texts of the
    same label."""
    share = (separation - _OPINION) / (_TOPIC - _OPINION)
    return _MOST_WEIGHT * float(np.clip(share, 0.0, 1.0))


def auroc(higher: NDArray[np.floating], lower: NDArray[np.floating]) -> float:
    """The probability that a score of the first sample is above one of the second (ties count half); NaN if
    a sample is empty."""
    if not len(higher) or not len(lower):
        return math.nan
    ordered = np.sort(lower)
    below = np.searchsorted(ordered, higher, "left") + np.searchsorted(ordered, higher, "right")
    return float(below.mean() / (2 * len(lower)))


@dataclass(frozen=True)
class NoveltyDetector:
    """A novelty score, `offset - logit * largest logit - similarity * mean similarity`, and its threshold.

    Attributes:
        offset: Makes the median of known texts 0.
        logit: Coefficient of the largest uncalibrated logit.
        similarity: Coefficient of the mean similarity to the nearest training texts.
        threshold: A text is out of scope if its score is higher; the standard deviation of known texts is
            1.
    """

    offset: float
    logit: float
    similarity: float
    threshold: float

    def scores(
        self, largest_logits: NDArray[np.floating], similarities: NDArray[np.floating] | float
    ) -> Doubles:
        """Novelty scores, float64 `[texts]`: higher is less like the training texts."""
        logits = np.asarray(largest_logits, dtype=np.float64)
        return self.offset - self.logit * logits - self.similarity * np.asarray(similarities)

    def is_unknown(self, scores: NDArray[np.floating]) -> NDArray[np.bool_]:
        """Whether texts with these novelty scores are out of scope."""
        return scores > self.threshold


@dataclass(frozen=True)
class FamiliarityFeatures:
    """What the novelty score is computed from.

    Attributes:
        logits: The largest uncalibrated logit of each text, `[texts]`.
        similarities: Mean similarity of each text to the nearest training texts, `[texts]`; None if texts
            have no vectors.
    """

    logits: NDArray[np.floating]
    similarities: Doubles | None = None

    def __len__(self) -> int:
        return len(self.logits)

    def scores(self, detector: NoveltyDetector) -> Doubles:
        """Novelty scores, float64 `[texts]`."""
        return detector.scores(self.logits, 0.0 if self.similarities is None else self.similarities)


@dataclass(frozen=True)
class NoveltyFit:
    """A detector, and the scores that it was fitted to.

    Attributes:
        detector: The detector.
        weight: Weight of the standardised logit; that of the similarity is 1.
        in_scope: Novelty scores of held-out known texts, `[texts]`.
        out_of_scope: Novelty scores of out-of-scope texts; empty without such texts.
        keep: The share of known texts to keep.
    """

    detector: NoveltyDetector
    weight: float
    in_scope: Doubles
    out_of_scope: Doubles
    keep: float

    def to_json(self) -> JsonObject:
        """The numbers that reports draw: threshold, and a histogram of the scores."""
        return {
            "keep": self.keep,
            "threshold": self.detector.threshold,
            "logit_weight": self.weight,
            "texts": len(self.in_scope),
            "out_of_scope_texts": len(self.out_of_scope),
            **(
                {"detected": float((self.out_of_scope > self.detector.threshold).mean())}
                if len(self.out_of_scope)
                else {}
            ),
            **histogram(self.in_scope, self.out_of_scope),
        }


def fit_novelty(
    in_scope: FamiliarityFeatures,
    keep: float,
    without_label: Doubles | None = None,
    out_of_scope: FamiliarityFeatures | None = None,
) -> NoveltyFit:
    """Fit a detector on held-out known texts, and on out-of-scope texts if there are any.

    Args:
        in_scope: Held-out or out-of-fold texts of the training labels.
        keep: The share of known texts to keep, above 0 and below 1.
        without_label: Their mean similarities without the references with their labels, `[texts]`; they are
            needed where `in_scope` has similarities.
        out_of_scope: Out-of-scope texts; from `LEAST_UNKNOWN` on they choose the weight of the logit.
    """
    logits, nearest, weight = _standardized(in_scope.logits), in_scope.similarities, 1.0
    parts: list[tuple[_Standardizer, NDArray[np.floating]]] = [(logits, in_scope.logits)]
    if nearest is not None and without_label is not None:
        similarities = _standardized(nearest)
        weight = logit_weight(nearest, without_label)
        if out_of_scope is not None and len(out_of_scope) >= LEAST_UNKNOWN:
            weight = _best_weight(in_scope, out_of_scope, (logits, similarities))
        parts.append((similarities, nearest))
    weights = [weight, 1.0][: len(parts)]
    combined = [factor * part.of(values) for factor, (part, values) in zip(weights, parts, strict=True)]
    scale = _standardized(np.sum(combined, axis=0))
    coefficients = [
        factor / (part.deviation * scale.deviation)
        for factor, (part, _) in zip(weights, parts, strict=True)
    ]
    offset = scale.center / scale.deviation + float(
        np.dot(coefficients, [part.center for part, _ in parts])
    )
    detector = NoveltyDetector(offset, *[*coefficients, 0.0][:2], threshold=0.0)
    scores = in_scope.scores(detector)
    detector = replace(detector, threshold=keep_threshold(scores, keep))
    outside = np.zeros(0) if out_of_scope is None else out_of_scope.scores(detector)
    return NoveltyFit(detector, weight, scores, outside, keep)


def keep_threshold(scores: Doubles, keep: float) -> float:
    """The novelty score that a share of at least `keep` of new known texts does not exceed, on average over
    samples: the conformal quantile of the scores of held-out texts, `[texts]`."""
    place = math.ceil((len(scores) + 1) * keep)
    return float(np.sort(scores)[min(place, len(scores)) - 1]) if len(scores) else 0.0


@dataclass(frozen=True)
class _Standardizer:
    center: float
    deviation: float

    def of(self, values: Any) -> Doubles:
        return (np.asarray(values, dtype=np.float64) - self.center) / self.deviation


def _standardized(values: NDArray[np.floating]) -> _Standardizer:
    if not len(values):
        return _Standardizer(0.0, 1.0)
    deviation = float(np.std(values, dtype=np.float64))
    return _Standardizer(float(np.median(values)), deviation if deviation > 1e-9 else 1.0)


def _best_weight(
    in_scope: FamiliarityFeatures,
    out_of_scope: FamiliarityFeatures,
    scales: tuple[_Standardizer, _Standardizer],
) -> float:
    """The weight of the logit with the largest AUROC; the smallest of equals."""
    (logits, similarities) = scales
    inside_parts, outside_parts = (
        (logits.of(part.logits), similarities.of(part.similarities)) for part in (in_scope, out_of_scope)
    )

    def merit(weight: float) -> float:
        first, second = (weight * part[0] + part[1] for part in (inside_parts, outside_parts))
        return auroc(first, second)

    return max(WEIGHTS, key=merit)


def histogram(in_scope: Doubles, out_of_scope: Doubles) -> JsonObject:
    """The fractions of in-scope and out-of-scope texts in equal bins of the novelty score: `edges` `[bins +
    1]`, `known` and `unknown` `[bins]`, empty without such texts. The first and the last bin include all
    scores beyond them."""
    every = np.concatenate([in_scope, out_of_scope])
    if not len(every):
        return {"edges": [], "known": [], "unknown": []}
    low, high = np.quantile(every, [0.002, 0.998])
    edges = np.linspace(low, max(high, low + 1e-6), _BINS + 1)

    def shares(scores: Doubles) -> list[float]:
        if not len(scores):
            return []
        counts, _ = np.histogram(scores.clip(edges[0], edges[-1]), edges)
        return (counts / len(scores)).tolist()

    return {"edges": edges.tolist(), "known": shares(in_scope), "unknown": shares(out_of_scope)}


@dataclass(frozen=True)
class NoveltyScores:
    """The evaluation of a detector on known and out-of-scope texts.

    Attributes:
        threshold: The threshold of the detector.
        auroc: Area under the ROC curve: the probability that an out-of-scope text has a higher novelty
            score than a known text. None without out-of-scope texts.
        retained: Share of known texts that are not said to be out of scope.
        retained_interval: Its 95 % interval.
        detected: Share of out-of-scope texts that are said to be; None without such texts.
        detected_interval: Its 95 % interval.
        accuracy: Share of all texts with the right answer: the right label, or out of scope.
        confusion: How many texts of each kind (`known`, `unknown`) were said to be of each kind.
        histogram: See `histogram`.
    """

    threshold: float
    auroc: float | None
    retained: float
    retained_interval: tuple[float, float]
    detected: float | None
    detected_interval: tuple[float, float] | None
    accuracy: float
    confusion: Mapping[str, Mapping[str, int]]
    histogram: JsonMapping

    def to_json(self) -> JsonObject:
        """A JSON object."""
        data = asdict(self)
        return {**{name: value for name, value in data.items() if name != "histogram"}, **data["histogram"]}


def score_novelty(
    detector: NoveltyDetector, in_scope: Doubles, out_of_scope: Doubles, right: NDArray[np.bool_]
) -> NoveltyScores:
    """Evaluate a detector.

    Args:
        detector: The detector.
        in_scope: Novelty scores of known texts, `[texts]`, at least one.
        out_of_scope: Novelty scores of out-of-scope texts; may be empty.
        right: Whether the predicted label of each known text is right, `[texts]`.
    """
    retained, detected = ~detector.is_unknown(in_scope), detector.is_unknown(out_of_scope)
    has_outside = bool(len(out_of_scope))
    return NoveltyScores(
        threshold=detector.threshold,
        auroc=auroc(out_of_scope, in_scope) if has_outside else None,
        retained=float(retained.mean()),
        retained_interval=wilson_interval(int(retained.sum()), len(retained)),
        detected=float(detected.mean()) if has_outside else None,
        detected_interval=wilson_interval(int(detected.sum()), len(detected)) if has_outside else None,
        accuracy=float(((retained & right).sum() + detected.sum()) / (len(retained) + len(detected))),
        confusion={
            "known": {"known": int(retained.sum()), "unknown": int((~retained).sum())},
            "unknown": {"known": int((~detected).sum()), "unknown": int(detected.sum())},
        },
        histogram=histogram(in_scope, out_of_scope),
    )


def novelty_json(scores: NoveltyScores | None) -> JsonObject:
    """The evaluation of a detector as a section of the JSON of an evaluation; empty without a detector."""
    return {} if scores is None else {NOVELTY: scores.to_json()}
