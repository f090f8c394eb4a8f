"""Thresholds that meet a requirement: of confidence, or of the rates of single labels.

Selective prediction leaves predictions below a confidence threshold to people (abstention). An operating
point is a rate that a label must reach, such as a recall of 0.95. Its threshold is chosen on held-out texts
plus one hypothetical worst-case text. The rate is therefore the one to expect on new texts, not the one
observed here (conformal risk control, Angelopoulos et al., ICLR 2024, for recall and false positive rate).
With few texts the required rate may be out of reach; the expected rate is reported.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from headwise.core.errors import ConfigError
from headwise.core.lazy_pattern import lazy_pattern

_KEPT = 100  # points of the curve that are saved in a model folder
MIN_ITEMS = 5
"""The fewest items for which a precision is computed."""
PSEUDO_ITEMS = 10
"""The pseudo-items that pull an observed precision towards the mean probability. Without them, of coin
flips three in four of the first few are right for one model in four."""


@dataclass(frozen=True)
class RiskCoverageCurve:
    """The risk-coverage curve of a model on held-out items, ordered by falling confidence.

    Attributes:
        probability: The confidence threshold at each point of the curve, `[places]`, decreasing.
        answered: The number of items with at least this confidence, `[places]`.
        right: The number of these that are predicted right, `[places]`.
    """

    probability: NDArray[np.float64]
    answered: NDArray[np.int64]
    right: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        confidences: NDArray[np.floating],
        right: NDArray,
        most: int = _KEPT,
        weights: NDArray[np.floating] | None = None,
    ) -> Self:
        """The curve of items.

        Args:
            confidences: The probability of each predicted label, `[items]`.
            right: Whether each prediction is right, or the probability of that (soft labels), `[items]`.
            most: The largest number of points.
            weights: The weight of each item, with mean 1, `[items]`.
        """
        order = np.argsort(-confidences, kind="stable")
        ranked = confidences[order].astype(np.float64)
        counts = np.ones(len(confidences)) if weights is None else weights[order].astype(np.float64)
        answered, hits = counts.cumsum(), (right[order] * counts).cumsum()
        last = np.flatnonzero(np.append(ranked[1:] < ranked[:-1], True)) if len(ranked) else order
        places = (
            np.unique(last[np.linspace(0, len(last) - 1, most).round().astype(int)]) if len(last) else last
        )
        return cls(
            ranked[places],
            *(np.rint(counts_so_far[places]).astype(np.int64) for counts_so_far in (answered, hits)),
        )

    @property
    def precision(self) -> NDArray[np.float64]:
        """The observed precision at each point, `[places]`."""
        return self.right / np.maximum(self.answered, 1)

    @property
    def expected(self) -> NDArray[np.float64]:
        """The expected precision on new items at each point, `[places]`: the observed one, or a lower one
        where the probabilities are lower."""
        steps = np.diff(self.answered, prepend=0)
        stated_precision = (self.probability * steps).cumsum() / np.maximum(self.answered, 1)
        return np.minimum(
            self.precision, (self.right + PSEUDO_ITEMS * stated_precision) / (self.answered + PSEUDO_ITEMS)
        )

    def least(self, precision: float) -> int | None:
        """The index of the last point with at least this expected precision; None where there is none."""
        enough = np.flatnonzero((self.expected >= precision) & (self.answered >= MIN_ITEMS))
        return int(enough[-1]) if len(enough) else None

    def to_json(self) -> dict[str, list[float]]:
        """The curve as a JSON object, for a model folder."""
        return {
            "probability": [float(f"{probability:.6g}") for probability in self.probability],
            "answered": self.answered.tolist(),
            "right": self.right.tolist(),
        }

    @classmethod
    def from_json(cls, data: Any) -> Self | None:
        """The inverse of `to_json`; None for invalid data."""
        if not isinstance(data, Mapping):
            return None
        try:
            columns = [
                np.array(data[name], dtype=np.float64) for name in ("probability", "answered", "right")
            ]
        except (KeyError, TypeError, ValueError):
            return None
        if len({column.shape for column in columns}) > 1 or columns[0].ndim != 1 or not len(columns[0]):
            return None
        return cls(columns[0], columns[1].astype(np.int64), columns[2].astype(np.int64))


def confidence_threshold(request: str, saved: Any) -> float:
    """The confidence threshold of selective prediction.

    Args:
        request: A probability, or `precision=` followed by the required precision above the threshold.
        saved: The JSON of the model's `RiskCoverageCurve` on held-out items.

    Raises:
        ConfigError: `request` is neither, or the model does not reach the precision.
    """
    kind, _, number = request.rpartition("=")
    try:
        value = float(number)
    except ValueError:
        value = -1.0
    if kind not in ("", "precision") or not 0 < value <= 1:
        raise ConfigError(f"--unsure {request}; expected a probability such as 0.9, or precision=0.95")
    if not kind:
        return value
    steps = RiskCoverageCurve.from_json(saved)
    if steps is None:
        raise ConfigError(
            f"--unsure {request}: the model folder does not say how often the model was right on held-out "
            "texts (it is of an earlier version, or was pruned on texts that it knew); give a probability, "
            "or train a new model"
        )
    place = steps.least(value)
    if place is None:
        best = steps.expected[steps.answered >= MIN_ITEMS].max(initial=0.0)
        shown = math.floor(1000 * best) / 10  # rounded up, it could equal the requested precision
        raise ConfigError(
            f"--unsure {request}: of what the model is surest of, {shown:.1f} % is expected to be right "
            "by held-out texts; ask for less, or give a probability"
        )
    return float(steps.probability[place])


Rate = Literal["recall", "precision", "fpr"]
_ONE = lazy_pattern(r"(.+?):(recall|precision|fpr)=([0-9.]+(?:e-?[0-9]+)?)(?:,|$)")
_FARTHEST = 17.0
"""The largest absolute log-ratio of probabilities; larger ones are clipped to keep thresholds finite."""
_ALIKE = 1e-6
"""Scores closer than this are treated as equal: those of equal texts differ by about as much, depending on
the other texts of the batch."""


@dataclass(frozen=True)
class OperatingPoint:
    """A required rate of a label.

    Attributes:
        label: The name of the label.
        rate: `recall`: the fraction of the texts with the label for which it is predicted; `precision`: the
            fraction of the texts with the predicted label that have it; `fpr`: the false positive rate, the
            fraction of the texts without the label for which it is predicted.
        target_rate: The smallest recall or precision, or the largest `fpr`, that is acceptable.
    """

    label: str
    rate: Rate
    target_rate: float


@dataclass(frozen=True)
class ChosenThreshold:
    """The threshold that was chosen for an operating point.

    Attributes:
        point: The operating point.
        threshold: The label is predicted for texts with a larger score.
        expected: The expected rate on new texts.
        met: Whether the expected rate meets the target rate.
        texts: The (weighted) number of texts that the rate is computed on: those with the label (recall),
            without it (fpr), or with the predicted label (precision).
    """

    point: OperatingPoint
    threshold: float
    expected: float
    met: bool
    texts: float

    def to_json(self) -> dict[str, object]:
        """The promise as a JSON object, for a model folder."""
        return {
            "label": self.point.label,
            "rate": self.point.rate,
            "wanted": self.point.target_rate,
            "expected": self.expected,
            "kept": self.met,
            "texts": self.texts,
        }


def parse_operating_points(thresholds: str, labels: Sequence[str] | None = None) -> list[OperatingPoint]:
    """Parse the operating points in `ClassifierConfig.thresholds`: `LABEL:recall=0.95`, comma-separated.

    Raises:
        ConfigError: `thresholds` cannot be parsed, a rate is not between 0 and 1, a label occurs twice, or
            is none of the `labels`.
    """
    points, place = list[OperatingPoint](), 0
    if thresholds in ("none", "f1"):
        return points
    while place < len(thresholds) or not points:
        one = _ONE.match(thresholds, place)
        try:
            target_rate = float(one[3]) if one else -1.0
        except ValueError:  # 1.2.3
            target_rate = -1.0
        if one is None or not 0 < target_rate < 1:
            raise ConfigError(
                f"cannot read {thresholds[place:]!r}; expected a label, one of recall, precision and fpr "
                "(false positive rate), and a number between 0 and 1, such as urgent:recall=0.95 or "
                "spam:fpr=0.01"
            )
        if labels is not None and one[1] not in labels:
            raise ConfigError(f"threshold for unknown label {one[1]!r}; labels are {', '.join(labels)}")
        points.append(OperatingPoint(one[1], one[2], target_rate))  # type: ignore[arg-type]
        place = one.end()
    if len({point.label for point in points}) < len(points):
        raise ConfigError(f"{thresholds!r} asks for two rates of one label")
    return points


def choose_threshold(
    point: OperatingPoint,
    scores: NDArray[np.floating],
    targets: NDArray[np.bool_],
    chances: NDArray[np.floating],
    weights: NDArray[np.floating] | None = None,
) -> ChosenThreshold:
    """Choose the threshold of an operating point on held-out texts: the highest one that reaches the target
    recall, or the lowest one that reaches the target precision or false positive rate. If none does, the
    one with the best rate.

    Args:
        point: The operating point.
        scores: The scores of the label, larger where it is more likely, `[texts]`.
        targets: Whether each text has the label, `[texts]`.
        chances: The probability of the label, `[texts]`.
        weights: The weight of each text, with mean 1, `[texts]`.
    """
    counts = np.ones(len(scores)) if weights is None else np.asarray(weights, dtype=np.float64)
    seen = counts > 0
    scores, targets = scores[seen].astype(np.float64), targets[seen]
    chances, counts = chances[seen], counts[seen]
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    # Candidates lie between texts of different scores, from the highest to the lowest, and at both ends.
    places = np.append(0, 1 + np.flatnonzero(np.append(ranked[1:] < ranked[:-1] - _ALIKE, len(ranked) > 0)))
    edges = np.concatenate([ranked[:1] + 1, ranked, ranked[-1:] - 1]) if len(ranked) else np.zeros(2)
    thresholds = (edges[places] + edges[places + 1]) / 2

    def above(amounts: NDArray[np.floating]) -> NDArray[np.float64]:
        """The sum of `amounts` over the texts above each threshold, `[thresholds]`."""
        return np.append(0.0, amounts[order].cumsum())[places]

    hits, taken = above(targets * counts), above(counts)
    positives, negatives = hits[-1], taken[-1] - hits[-1]
    if point.rate == "recall":
        expected, of = 1 - (positives - hits + 1) / (positives + 1), np.full(len(places), positives)
    elif point.rate == "fpr":
        expected, of = (taken - hits + 1) / (negatives + 1), np.full(len(places), negatives)
    else:  # precision, as in `headwise.metrics.operating_points`
        smoothed_precision = (hits + PSEUDO_ITEMS * above(chances * counts) / taken.clip(1e-9)) / (
            taken + PSEUDO_ITEMS
        )
        expected = np.where(
            taken >= MIN_ITEMS, np.minimum(hits / taken.clip(1e-9), smoothed_precision), 0.0
        )
        of = taken
    sign = -1 if point.rate == "fpr" else 1
    good = np.flatnonzero(sign * expected >= sign * point.target_rate - 1e-12)
    if met := len(good) > 0:
        best = good[0] if point.rate == "recall" else good[-1]
    else:
        nearest = np.flatnonzero(sign * expected >= (sign * expected).max() - 1e-12)
        best = nearest[-1] if point.rate == "fpr" else nearest[0]
    return ChosenThreshold(point, float(thresholds[best]), float(expected[best]), met, float(of[best]))


def log_ratio(probabilities: NDArray[np.floating], label: int) -> NDArray[np.float64]:
    """The log-ratio of a label's probability to that of the most probable other label, `[texts]`, from
    probabilities `[texts, labels]`."""
    logs = np.log(probabilities.clip(1e-12))
    best_other = np.delete(logs, label, axis=1).max(axis=1)
    return (logs[:, label] - best_other).clip(-_FARTHEST, _FARTHEST)


def label_thresholds(threshold: float, label: int, labels: int) -> list[float]:
    """Thresholds of all labels for `headwise.metrics.thresholds.predict_labels`, which add up to 1:
    `label` is predicted where its log-ratio (`log_ratio`) exceeds `threshold`."""
    weights = np.ones(labels)
    weights[label] = np.exp(threshold)
    return (weights / weights.sum()).tolist()
