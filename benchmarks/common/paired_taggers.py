"""Paired differences of taggers: what is compared, F1 or accuracy, is a ratio of sums over sentences."""

import base64
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

COUNTS = "counts"
"""Where a run has two numbers of each test sentence
(`headwise.models.tag_evaluation.tag_counts`)."""
_DRAWS, _AT_ONCE = 5_000, 500


def packed(counts: np.ndarray) -> str:
    """Counts `[sentences, 2]` as text."""
    return base64.b64encode(zlib.compress(counts.astype("<u2").tobytes(), 9)).decode()


def unpacked(run: Mapping[str, Any]) -> np.ndarray | None:
    """The counts of a run, `[sentences, 2]`; None of the older results, which have none."""
    if COUNTS not in run:
        return None
    return np.frombuffer(zlib.decompress(base64.b64decode(run[COUNTS])), "<u2").reshape(-1, 2).astype(int)


def paired_taggers(
    found: Mapping[str, Mapping[str, list[Any]]], tasks: Sequence[str], first: str, second: str
) -> tuple[int, float, float, float] | None:
    """One tagger minus another on the same sentences and seeds, as `accuracy_tables.paired` has it of
    labels: how many pairs of runs, their mean difference in points, and its 95 % bootstrap interval over
    sentences; None where there is no pair."""
    means, draws, pairs, random = [], [], 0, np.random.default_rng(0)
    for task in tasks:
        others = {run["seed"]: unpacked(run) for run in found[task][second]}
        both = [(unpacked(run), others.get(run["seed"])) for run in found[task][first]]
        own = [np.stack(pair) for pair in both if pair[0] is not None and pair[1] is not None]
        if not own:
            continue
        counts = np.stack(own)  # [pairs, systems, sentences, 2]
        sentences = counts.shape[2]
        pairs += len(own)
        means.append(_ahead(counts.sum(axis=2)))
        often = [
            random.multinomial(sentences, np.full(sentences, 1 / sentences), size=_AT_ONCE)
            for _ in range(_DRAWS // _AT_ONCE)
        ]
        draws.append(np.concatenate([_ahead(np.einsum("ds,pysc->dpyc", own, counts)) for own in often]))
    if not means:
        return None
    low, high = np.quantile(np.mean(draws, axis=0), [0.025, 0.975])
    return pairs, 100 * float(np.mean(means)), 100 * float(low), 100 * float(high)


def _ahead(sums: np.ndarray) -> np.ndarray:
    """The ratio of the first system minus that of the second, in the mean over pairs of runs: `[...]` of
    `[..., pairs, systems, 2]`."""
    ratios = sums[..., 0] / sums[..., 1].clip(1)
    return (ratios[..., 0] - ratios[..., 1]).mean(axis=-1)
