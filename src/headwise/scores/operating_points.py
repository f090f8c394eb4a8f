"""Operating points: a label is given where that keeps a promise, such as to find 95 % of its texts.

The threshold is found on held-out texts, with one text more that is taken for the worst: so the rate is
what is expected of new texts, not what these happen to have (conformal risk control, Angelopoulos et al.,
ICLR 2024, for recall and false positives). Of few texts little can be promised, and it says how much.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from headwise.errors import ConfigError
from headwise.scores.sureness import LEAST, OWN

Rate = Literal["recall", "precision", "fpr"]
_ONE = re.compile(r"(.+?):(recall|precision|fpr)=([0-9.]+(?:e-?[0-9]+)?)(?:,|$)")
_FARTHEST = 17.0
"""How far apart the logarithms of probabilities are taken to be at most, so that thresholds can be kept."""
_ALIKE = 1e-6
"""Scores that are nearer to each other are taken for equal: those of equal texts differ by about as much,
with what else is in the batch."""
OPERATING_POINTS = "operating_points"
"""Where the metrics of a model have what was promised, among its scores on dev."""


@dataclass(frozen=True)
class OperatingPoint:
    """What is asked of a label.

    Attributes:
        label: Its name.
        rate: `recall`: the share of its texts that get it; `precision`: the share of the texts that get it
            whose label it is; `fpr`, the false positive rate: the share of other texts that get it.
        wanted: At least so much, of `fpr` at most.
    """

    label: str
    rate: Rate
    wanted: float


@dataclass(frozen=True)
class Promise:
    """The threshold of an operating point.

    Attributes:
        point: What was asked for.
        threshold: The label is given to texts with a larger score.
        expected: The rate that is expected of new texts.
        kept: Whether that is as good as was asked for.
        texts: How many texts that is known of: of the label, others, or those that got it.
    """

    point: OperatingPoint
    threshold: float
    expected: float
    kept: bool
    texts: float

    def to_json(self) -> dict[str, Any]:
        """Plain data, for a model folder."""
        own = {"label": self.point.label, "rate": self.point.rate, "wanted": self.point.wanted}
        return own | {"expected": self.expected, "kept": self.kept, "texts": self.texts}


def operating_points(asked: str, labels: Sequence[str] | None = None) -> list[OperatingPoint]:
    """What `ClassifierConfig.thresholds` asks for, `LABEL:recall=0.95`, with commas between several.

    Raises:
        ConfigError: It cannot be read, a rate is not between 0 and 1, a label stands twice, or is none of
            the `labels`.
    """
    found, place = list[OperatingPoint](), 0
    if asked in ("none", "f1"):
        return found
    while place < len(asked) or not found:
        one = _ONE.match(asked, place)
        try:
            wanted = float(one[3]) if one else -1.0
        except ValueError:  # 1.2.3
            wanted = -1.0
        if one is None or not 0 < wanted < 1:
            raise ConfigError(
                f"cannot read {asked[place:]!r}; expected a label, one of recall, precision and fpr (false "
                "positive rate), and a number between 0 and 1, such as urgent:recall=0.95 or spam:fpr=0.01"
            )
        if labels is not None and one[1] not in labels:
            raise ConfigError(f"threshold for unknown label {one[1]!r}; labels are {', '.join(labels)}")
        found.append(OperatingPoint(one[1], one[2], wanted))  # type: ignore[arg-type]
        place = one.end()
    if len({point.label for point in found}) < len(found):
        raise ConfigError(f"{asked!r} asks for two rates of one label")
    return found


def promise(
    point: OperatingPoint,
    scores: NDArray[np.floating],
    targets: NDArray[np.bool_],
    chances: NDArray[np.floating],
    weights: NDArray[np.floating] | None = None,
) -> Promise:
    """The threshold on held-out texts that asks least of the rest: the highest with the recall, the lowest
    with the precision or the false positive rate. Where none has it, the one that comes nearest.

    Args:
        point: What is asked for.
        scores: Larger where the label is likelier, `[texts]`.
        targets: Whether texts have it, `[texts]`.
        chances: The probability of it, `[texts]`.
        weights: How much each text counts, 1 in the mean, `[texts]`.
    """
    counts = np.ones(len(scores)) if weights is None else np.asarray(weights, dtype=np.float64)
    seen = counts > 0
    scores, targets = scores[seen].astype(np.float64), targets[seen]
    chances, counts = chances[seen], counts[seen]
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    # Between texts of other scores, from the highest to the lowest; before and after all of them too.
    places = np.append(0, 1 + np.flatnonzero(np.append(ranked[1:] < ranked[:-1] - _ALIKE, len(ranked) > 0)))
    edges = np.concatenate([ranked[:1] + 1, ranked, ranked[-1:] - 1]) if len(ranked) else np.zeros(2)
    thresholds = (edges[places] + edges[places + 1]) / 2

    def above(amounts: NDArray[np.floating]) -> NDArray[np.float64]:
        """How much there is above each threshold."""
        return np.append(0.0, amounts[order].cumsum())[places]

    hits, taken = above(targets * counts), above(counts)
    own, others = hits[-1], taken[-1] - hits[-1]
    if point.rate == "recall":
        expected, of = 1 - (own - hits + 1) / (own + 1), np.full(len(places), own)
    elif point.rate == "fpr":
        expected, of = (taken - hits + 1) / (others + 1), np.full(len(places), others)
    else:  # as of those that are sure enough
        said = (hits + OWN * above(chances * counts) / taken.clip(1e-9)) / (taken + OWN)
        expected = np.where(taken >= LEAST, np.minimum(hits / taken.clip(1e-9), said), 0.0)
        of = taken
    sign = -1 if point.rate == "fpr" else 1
    good = np.flatnonzero(sign * expected >= sign * point.wanted - 1e-12)
    if kept := len(good) > 0:
        best = good[0] if point.rate == "recall" else good[-1]
    else:
        nearest = np.flatnonzero(sign * expected >= (sign * expected).max() - 1e-12)
        best = nearest[-1] if point.rate == "fpr" else nearest[0]
    return Promise(point, float(thresholds[best]), float(expected[best]), kept, float(of[best]))


def ahead(probabilities: NDArray[np.floating], label: int) -> NDArray[np.float64]:
    """How far a label is ahead of the likeliest other, `[texts]`: the logarithm of the ratio of their
    probabilities, `[texts, labels]`."""
    logs = np.log(probabilities.clip(1e-12))
    others = np.delete(logs, label, axis=1).max(axis=1)
    return (logs[:, label] - others).clip(-_FARTHEST, _FARTHEST)


def decided_by(threshold: float, label: int, labels: int) -> list[float]:
    """Thresholds of all labels for `headwise.scores.thresholds.decide`, which add up to 1: the label is
    given where it is farther `ahead` than that."""
    found = np.ones(labels)
    found[label] = np.exp(threshold)
    return (found / found.sum()).tolist()
