"""Intervals and tests of scores that are counted over texts, by drawing texts anew.

The words and spans of one sentence are not independent of one another, so the sentence is what is drawn.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headwise.scores.metrics import Z, middle_of, wilson_interval

Counts = NDArray[np.int64]
"""What was counted in each text, `[texts, counts]`."""

Interval = tuple[float, float]

Statistic = Callable[[Counts], NDArray[np.float64]]
"""A score from counts summed over texts: `[..., counts]` -> `[...]`."""

_DRAWS, _AT_ONCE = 10_000, 500


@dataclass(frozen=True)
class ScoreDifference:
    """Two models on the same texts.

    Attributes:
        score: Score of the first minus that of the second.
        interval: 95 % bootstrap interval of that difference, over texts.
        p_value: Approximate randomisation test: how often the scores would differ at least as much if it
            were chance which of the two models said what of a text (Yeh 2000).
    """

    score: float
    interval: tuple[float, float]
    p_value: float


def bootstrap_interval(counts: Counts, statistic: Statistic, *, seed: int = 0) -> tuple[float, float]:
    """95 % percentile interval of a score over texts (Efron 1979); where all are right or all wrong, and so
    all draws alike, Wilson's of as many texts."""
    kinds, times = np.unique(counts, axis=0, return_counts=True)
    low, high = middle_of(np.concatenate([statistic(draw @ kinds) for draw in _bootstrap(times, seed)]))
    texts = int(counts.any(axis=1).sum())
    if texts and low == high in (0.0, 1.0):
        return wilson_interval(round(low * texts), texts)
    return low, high


def compare_counts(first: Counts, second: Counts, statistic: Statistic) -> ScoreDifference:
    """Paired comparison of the scores of two models, from what was counted in each of the same texts."""
    both = np.concatenate([first, second], axis=1)
    kinds, times = np.unique(both, axis=0, return_counts=True)
    one, two = np.split(kinds, 2, axis=1)

    def difference(times_one: Counts, times_two: Counts) -> NDArray[np.float64]:
        mixed = times_one @ one + times_two @ two, times_one @ two + times_two @ one
        return statistic(mixed[0]) - statistic(mixed[1])

    none = np.zeros_like(times)
    found = float(difference(times, none))
    interval = middle_of(np.concatenate([difference(draw, none) for draw in _bootstrap(times, 0)]))
    random = np.random.Generator(np.random.PCG64(0))
    extreme = 0
    for _ in range(0, _DRAWS, _AT_ONCE):
        kept = random.binomial(times, 0.5, size=(_AT_ONCE, len(times)))
        # What is equal but for rounding counts as equal.
        extreme += int((abs(difference(kept, times - kept)) >= abs(found) - 1e-12).sum())
    return ScoreDifference(found, interval, (extreme + 1) / (_DRAWS + 1))


def compare_ratios(first: NDArray[np.floating], second: NDArray[np.floating]) -> tuple[float, Interval]:
    """Difference of the ratios of two models on the same items, and its 95 % interval, by linearisation
    (Woodruff, 1971): without drawing, as it is asked of many.

    Args:
        first: Numerators and denominators that the items add to a ratio of sums, `[items, 2]`.
        second: Likewise.
    """
    ratios, parts = [], []
    for top, bottom in (first.T.astype(np.float64), second.T.astype(np.float64)):
        ratio = top.sum() / max(bottom.sum(), 1e-12)
        ratios.append(ratio)
        parts.append((top - ratio * bottom) / max(bottom.mean(), 1e-12))
    spread = parts[0] - parts[1]
    half = Z * float(spread.std(ddof=min(1, len(spread) - 1))) / len(spread) ** 0.5
    found = float(ratios[0] - ratios[1])
    return found, (found - half, found + half)


def _bootstrap(times: Counts, seed: int) -> Iterator[Counts]:
    """How often each kind of text is drawn, `[draws, kinds]`, where it occurs so many `times`.

    Texts with equal counts are alike, so drawing texts is a multinomial draw of their kinds.
    """
    random = np.random.Generator(np.random.PCG64(seed))
    for _ in range(0, _DRAWS, _AT_ONCE):
        yield random.multinomial(times.sum(), times / times.sum(), size=_AT_ONCE)
