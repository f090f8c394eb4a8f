"""Paired differences of taggers: what is compared, F1 or accuracy, is a ratio of sums over sentences."""

import base64
import zlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from benchmarks.common.differences import DRAWS, Difference

COUNTS = "counts"
"""Where a run has two numbers of each test sentence
(`headwise.models.tag_evaluation.tag_counts`)."""
_AT_ONCE = 500


def packed(counts: np.ndarray) -> str:
    """Counts `[sentences, 2]` as text."""
    return base64.b64encode(zlib.compress(counts.astype("<u2").tobytes(), 9)).decode()


def unpacked(run: Mapping[str, Any]) -> np.ndarray | None:
    """The counts of a run, `[sentences, 2]`; None of the older results, which have none."""
    if COUNTS not in run:
        return None
    return np.frombuffer(zlib.decompress(base64.b64decode(run[COUNTS])), "<u2").reshape(-1, 2).astype(int)


def paired_taggers(
    by_task: Mapping[str, Mapping[str, list[Any]]], tasks: Sequence[str], first: str, second: str
) -> Difference | None:
    """One tagger minus another on the same sentences and seeds, as `accuracy_tables.paired` does for
    labels, with the 95 % bootstrap interval over sentences and seeds; None where there is no pair."""
    means, draws, runs = [], [], []
    for place, task in enumerate(tasks):
        rivals = {run["seed"]: unpacked(run) for run in by_task[task][second]}
        both = [(unpacked(run), rivals.get(run["seed"])) for run in by_task[task][first]]
        pairs = [np.stack(pair) for pair in both if pair[0] is not None and pair[1] is not None]
        if not pairs:
            continue
        counts = np.stack(pairs)  # [pairs, systems, sentences, 2]
        sentences, seeds = counts.shape[2], len(pairs)
        runs.append(seeds)
        means.append(float(_ahead(counts.sum(axis=2)).mean()))
        columns = counts.transpose(2, 0, 1, 3).reshape(sentences, -1).astype(float)  # exact: they are small
        drawn = []
        for often, chosen in _resamples(sentences, seeds, place):
            by_seed = _ahead((often @ columns).reshape(-1, seeds, 2, 2))
            drawn.append((by_seed * chosen).sum(axis=1) / seeds)
        draws.append(np.concatenate(drawn))
    if not means:
        return None
    low, high = np.quantile(np.mean(draws, axis=0), [0.025, 0.975])
    return Difference(
        mean=100 * float(np.mean(means)),
        low=100 * float(low),
        high=100 * float(high),
        tasks=len(means),
        runs=sum(runs),
        seeds=min(runs),
    )


@lru_cache(maxsize=8)
def _resamples(sentences: int, seeds: int, place: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """How often each draw has each sentence, and each seed, 500 draws at once.

    Drawing takes most of the time, and rows of a table are of the same sentences: all have the same draws.

    Args:
        place: Of the data set among those of a mean, whose draws do not depend on each other.
    """
    generator, drawn = np.random.default_rng(place), []
    for _ in range(DRAWS // _AT_ONCE):
        often = generator.multinomial(sentences, np.full(sentences, 1 / sentences), size=_AT_ONCE)
        chosen = generator.multinomial(seeds, np.full(seeds, 1 / seeds), size=_AT_ONCE)
        drawn.append((often.astype(np.uint8), chosen))
    return drawn


def _ahead(sums: np.ndarray) -> np.ndarray:
    """The ratio of the first system minus that of the second for each pair of runs: `[..., pairs]` of
    `[..., pairs, systems, 2]`."""
    ratios = sums[..., 0] / sums[..., 1].clip(1)
    return ratios[..., 0] - ratios[..., 1]
