"""Intervals over texts, seeds and data sets, beside a loop that draws them one by one."""

import numpy as np
import pytest

from benchmarks.common.differences import difference


def brute_force(gains, over_tasks, draws=12000):
    random, names = np.random.default_rng(1), list(gains)
    means = []
    for _ in range(draws):
        tasks = random.choice(names, len(names)) if over_tasks else names
        drawn = []
        for task in tasks:
            seeds, texts = gains[task].shape
            chosen = random.integers(texts, size=texts)
            drawn.append(
                np.mean([gains[task][seed][chosen].mean() for seed in random.integers(seeds, size=seeds)])
            )
        means.append(100 * np.mean(drawn))
    return np.quantile(means, [0.025, 0.975])


@pytest.mark.parametrize("over_tasks", [False, True])
def test_intervals_are_those_of_single_draws(over_tasks):
    random = np.random.default_rng(0)
    gains = {
        "a": random.choice([-1, 0, 1], p=[0.1, 0.7, 0.2], size=(3, 60)),
        "b": random.choice([-1, 0, 1], p=[0.2, 0.7, 0.1], size=(1, 40)),
        "c": random.choice([0, 1], size=(2, 30)),
    }
    got = difference(gains, over_tasks=over_tasks)
    # Quantiles of some thousand draws, a few points apart from each other.
    assert [got.low, got.high] == pytest.approx(list(brute_force(gains, over_tasks)), abs=3)
    assert got.mean == pytest.approx(100 * np.mean([gain.mean() for gain in gains.values()]))
    assert (got.tasks, got.runs, got.seeds) == (3, 6, 1)


def test_seeds_and_data_sets_widen_the_interval():
    """All texts of a run agree: over texts alone the intervals have no width."""
    right, level = np.ones(40), np.zeros(40)
    of_seeds = difference({"a": np.array([right, level])})
    assert (of_seeds.mean, of_seeds.low, of_seeds.high) == (50.0, 0.0, 100.0)
    of_sets = {"a": right[None], "b": level[None]}
    assert difference(of_sets).low == difference(of_sets).high == 50.0
    over = difference(of_sets, over_tasks=True)
    assert (over.mean, over.low, over.high) == (50.0, 0.0, 100.0)


def test_nothing_to_compare():
    assert difference({}) is None
