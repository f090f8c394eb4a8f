"""Intervals of the difference of two systems, over texts and over seeds."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

DRAWS = 5000


@dataclass(frozen=True)
class Difference:
    """One system minus another on the same texts and seeds.

    Attributes:
        mean: The mean over data sets, in points.
        low: Lower end of its 95 % interval.
        high: Upper end.
        tasks: Number of data sets.
        runs: Number of pairs of runs.
        seeds: Least number of seeds that a data set has; with one, the interval holds no seed noise.
    """

    mean: float
    low: float
    high: float
    tasks: int
    runs: int
    seeds: int

    def __str__(self) -> str:
        return f"{self.mean:+.1f} ({self.low:+.1f} to {self.high:+.1f})"


def difference(gains: Mapping[str, np.ndarray], *, over_tasks: bool = False) -> Difference | None:
    """The mean difference and the interval of a hierarchical bootstrap: texts and seeds are drawn anew
    within each data set, the same texts for all seeds; and data sets too where they stand for others
    (`over_tasks`).

    Args:
        gains: For each data set what one system has right minus what the other has, `[seeds, texts]`.

    Returns:
        None where there is no data set.
    """
    if not gains:
        return None
    generator = np.random.default_rng(0)
    means = np.empty((len(gains), DRAWS))
    for number, gain in enumerate(gains.values()):
        seeds, texts = gain.shape
        # Texts on which the seeds gain the same are one outcome: a handful in place of thousands.
        outcomes, counts = np.unique(gain.T, axis=0, return_counts=True)
        by_seed = generator.multinomial(texts, counts / texts, size=DRAWS) @ outcomes / texts
        chosen = generator.multinomial(seeds, np.full(seeds, 1 / seeds), size=DRAWS)
        means[number] = (by_seed * chosen).sum(axis=1) / seeds
    if over_tasks:  # in each place another data set, with draws of its own
        places = [generator.permuted(means, axis=1) for _ in gains]
        chosen = generator.integers(len(gains), size=(len(gains), DRAWS))
        means = np.array(
            [place[task, np.arange(DRAWS)] for place, task in zip(places, chosen, strict=True)]
        )
    low, high = np.quantile(means.mean(axis=0), [0.025, 0.975])
    return Difference(
        mean=100 * float(np.mean([gain.mean() for gain in gains.values()])),
        low=100 * float(low),
        high=100 * float(high),
        tasks=len(gains),
        runs=sum(map(len, gains.values())),
        seeds=min(map(len, gains.values())),
    )
