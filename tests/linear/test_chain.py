"""The best tags of a chain, and their probabilities, beside all paths."""

from itertools import pairwise, product

import numpy as np
import pytest

from headwise.linear.tag_crf import marginals, viterbi

LENGTHS = (4, 0, 1, 5)
ENDS = np.cumsum([0, *LENGTHS])


def scores(kind: type, spread: float):
    random = np.random.default_rng(0)
    emissions = spread * random.normal(size=(ENDS[-1], 3))
    return emissions.astype(kind), random.normal(size=(3, 3)).astype(kind)


def by_all_paths(emissions, transitions):
    paths = [*product(range(3), repeat=len(emissions))]
    totals = np.array(
        [
            sum(float(emissions[n, k]) for n, k in enumerate(path))
            + sum(float(transitions[move]) for move in pairwise(path))
            for path in paths
        ]
    )
    expected = np.zeros((len(emissions), 3))
    for path, weight in zip(paths, np.exp(totals - totals.max()), strict=True):
        expected[np.arange(len(emissions)), path] += weight / np.exp(totals - totals.max()).sum()
    return paths[int(totals.argmax())], expected


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("spread", [1.0, 20.0, 500.0])
@pytest.mark.parametrize("forbidden", [(), ((0, 1), (2, 2))])
def test_they_are_those_of_all_paths(kind, spread, forbidden):
    emissions, transitions = scores(kind, spread)
    for move in forbidden:
        transitions[move] = -1e30
    best, chances = viterbi(emissions, ENDS, transitions), marginals(emissions, ENDS, transitions)
    assert chances.dtype == kind
    for start, end in pairwise(ENDS):
        best_path, expected = by_all_paths(emissions[start:end], transitions)
        assert tuple(best[start:end]) == best_path
        atol = 1e-5 if kind is np.float32 else 1e-12
        np.testing.assert_allclose(chances[start:end], expected, atol=atol)


def test_forbidden_moves_outweigh_any_emission():
    """Where only an unlikely tag may follow, it is certain, however unlikely it is."""
    transitions = np.array([[-1e30, -1e30, 3.0], [0.0, 2.0, -1e30], [-1e30, 0.0, -1e30]])
    emissions = np.array([[1000.0, 0.0, 0.0], [900.0, 800.0, -9000.0], [0.0, -2000.0, 4.0]] * 2)
    emissions[0, 1] = -99_000.0
    best_path, expected = by_all_paths(emissions, transitions)
    ends = np.array([0, 6])
    assert tuple(viterbi(emissions, ends, transitions)) == best_path
    np.testing.assert_allclose(marginals(emissions, ends, transitions), expected, atol=1e-12)


def test_of_no_words():
    nothing = np.zeros((0, 3))
    for ends in (np.zeros(1, dtype=np.int64), np.zeros(3, dtype=np.int64)):
        assert viterbi(nothing, ends, np.zeros((3, 3))).shape == (0,)
        assert marginals(nothing, ends, np.zeros((3, 3))).shape == (0, 3)
