import numpy as np
import pytest


def runs(*counts, seed=0):
    from benchmarks.common.paired_taggers import packed

    return [
        {"seed": seed + number, "counts": packed(np.array(pairs))} for number, pairs in enumerate(counts)
    ]


def test_counts_are_kept():
    from benchmarks.common.paired_taggers import unpacked

    counts = np.random.default_rng(0).integers(0, 60_000, (50, 2))
    assert np.array_equal(unpacked(runs(counts)[0]), counts)
    assert unpacked({"seed": 0}) is None


def test_the_difference_is_that_of_the_scores_and_its_interval_that_of_sentences():
    from benchmarks.common.paired_taggers import paired_taggers

    chance = np.random.default_rng(0)
    words = chance.integers(1, 9, 300)
    both = [np.stack([chance.binomial(words, share), words], axis=1) for share in (0.9, 0.8)]
    by_task = {"a": {"x": runs(both[0]), "y": runs(both[1])}}
    gain = paired_taggers(by_task, ["a"], "x", "y")
    low, high = gain.low, gain.high
    ratios = [counts[:, 0].sum() / counts[:, 1].sum() for counts in both]
    assert (gain.runs, gain.mean) == (1, pytest.approx(100 * (ratios[0] - ratios[1])))
    drawn = []
    for _ in range(2_000):
        rows = chance.integers(0, 300, 300)
        sums = [counts[rows].sum(axis=0) for counts in both]
        drawn.append(100 * (sums[0][0] / sums[0][1] - sums[1][0] / sums[1][1]))
    assert [low, high] == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.4)
    assert low < gain.mean < high


def test_the_same_tagger_is_level_and_older_runs_have_no_pair():
    from benchmarks.common.paired_taggers import paired_taggers

    counts = np.array([[1, 2], [0, 0], [3, 3]])
    by_task = {"a": {"x": runs(counts, counts), "y": runs(counts, seed=1), "old": [{"seed": 0}]}}
    level = paired_taggers(by_task, ["a"], "x", "y")
    assert (level.runs, level.mean, level.low, level.high) == (1, 0.0, 0.0, 0.0)  # of seed 1 alone
    assert paired_taggers(by_task, ["a"], "x", "old") is None


def test_the_committed_counts_are_those_of_the_scores():
    from benchmarks import ROOT
    from benchmarks.common.paired_taggers import unpacked
    from benchmarks.common.runs import read_lines

    stored = [
        run
        for run in read_lines(ROOT / "benchmarks" / "papers" / "results" / "tagging.jsonl")
        if "counts" in run
    ]
    assert stored
    for run in stored:
        right, every = unpacked(run).sum(axis=0)
        assert right / every == pytest.approx(run["test"], abs=1e-12)
