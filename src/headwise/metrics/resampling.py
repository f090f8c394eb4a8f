"""Bootstrap intervals and randomisation tests of scores that are functions of counts summed over texts.

The sentence is the resampling unit, as the words and spans of one sentence are not independent.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headwise.metrics.classification_scores import NORMAL_QUANTILE, central_interval, wilson_interval

Counts = NDArray[np.int64]
"""The counts of each text, `[texts, counts]`."""

Interval = tuple[float, float]

Statistic = Callable[[Counts], NDArray[np.float64]]
"""A function from counts summed over texts to a score: `[..., counts]` -> `[...]`."""

_DRAWS, _AT_ONCE = 10_000, 500


@dataclass(frozen=True)
class ScoreDifference:
    """The paired difference of two models on the same texts.

    Attributes:
        score: Score of the first minus that of the second.
        interval: 95 % bootstrap interval of the difference, over texts.
        p_value: The p value of an approximate randomisation test, which swaps the predictions of the two
            models at random for each text (Yeh 2000).
    """

    score: float
    interval: tuple[float, float]
    p_value: float


def bootstrap_interval(counts: Counts, statistic: Statistic) -> tuple[float, float]:
    """95 % bootstrap percentile interval of a score over texts (Efron 1979). If all texts are right or all
    are wrong, all bootstrap samples are equal, and the Wilson interval is returned."""
    kinds, times = np.unique(counts, axis=0, return_counts=True)
    low, high = central_interval(np.concatenate([statistic(draw @ kinds) for draw in _bootstrap(times)]))
    texts = int(counts.any(axis=1).sum())
    if texts and low == high in (0.0, 1.0):
        return wilson_interval(round(low * texts), texts)
    return low, high


def compare_counts(first: Counts, second: Counts, statistic: Statistic) -> ScoreDifference:
    """Paired comparison of the scores of two models, from the counts of each on the same texts."""
    both = np.concatenate([first, second], axis=1)
    kinds, times = np.unique(both, axis=0, return_counts=True)
    one, two = np.split(kinds, 2, axis=1)

    def difference(times_one: Counts, times_two: Counts) -> NDArray[np.float64]:
        mixed = times_one @ one + times_two @ two, times_one @ two + times_two @ one
        return statistic(mixed[0]) - statistic(mixed[1])

    none = np.zeros_like(times)
    observed = float(difference(times, none))
    interval = central_interval(np.concatenate([difference(draw, none) for draw in _bootstrap(times)]))
    random = np.random.Generator(np.random.PCG64(0))
    extreme = 0
    for _ in range(0, _DRAWS, _AT_ONCE):
        unswapped = random.binomial(times, 0.5, size=(_AT_ONCE, len(times)))
        # The tolerance treats differences that are equal up to rounding as equal.
        extreme += int((abs(difference(unswapped, times - unswapped)) >= abs(observed) - 1e-12).sum())
    return ScoreDifference(observed, interval, (extreme + 1) / (_DRAWS + 1))


def compare_ratios(first: NDArray[np.floating], second: NDArray[np.floating]) -> tuple[float, Interval]:
    """Difference of the ratios of two models on the same items, and its 95 % interval, by linearisation
    (Woodruff, 1971), which is faster than resampling.

    Args:
        first: The numerator and denominator of each item in the first model's ratio of sums, `[items, 2]`.
        second: The same of the second model.
    """
    ratios, parts = [], []
    for top, bottom in (first.T.astype(np.float64), second.T.astype(np.float64)):
        ratio = top.sum() / max(bottom.sum(), 1e-12)
        ratios.append(ratio)
        parts.append((top - ratio * bottom) / max(bottom.mean(), 1e-12))
    spread = parts[0] - parts[1]
    half = NORMAL_QUANTILE * float(spread.std(ddof=min(1, len(spread) - 1))) / len(spread) ** 0.5
    difference = float(ratios[0] - ratios[1])
    return difference, (difference - half, difference + half)


def _bootstrap(times: Counts) -> Iterator[Counts]:
    """Bootstrap samples in batches: how often each distinct row of counts is drawn, `[draws, rows]`, where
    row i occurs `times[i]` times.

    Texts with equal counts are interchangeable, so drawing texts is a multinomial draw of distinct rows.
    """
    random = np.random.Generator(np.random.PCG64(0))
    for _ in range(0, _DRAWS, _AT_ONCE):
        yield random.multinomial(times.sum(), times / times.sum(), size=_AT_ONCE)
