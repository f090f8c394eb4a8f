"""The best tags of a chain, and their probabilities, beside all paths."""

from itertools import pairwise, product

import numpy as np
import pytest

from headwise.linear.chain_decoding import marginals, viterbi

LENGTHS = (4, 0, 1, 5)
ENDS = np.cumsum([0, *LENGTHS])


def scores(kind: type, spread: float):
    random = np.random.default_rng(0)
    emissions = spread * random.normal(size=(ENDS[-1], 3))
    return emissions.astype(kind), random.normal(size=(3, 3)).astype(kind)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("spread", [1.0, 20.0])
@pytest.mark.parametrize("forbidden", [(), ((0, 1), (2, 2))])
def test_they_are_those_of_all_paths(kind, spread, forbidden):
    emissions, transitions = scores(kind, spread)
    for move in forbidden:
        transitions[move] = -1e30
    best, chances = viterbi(emissions, ENDS, transitions), marginals(emissions, ENDS, transitions)
    assert chances.dtype == kind
    for start, end in pairwise(ENDS):
        paths = [*product(range(3), repeat=end - start)]
        said = np.array(
            [
                sum(float(emissions[start + n, k]) for n, k in enumerate(path))
                + sum(float(transitions[move]) for move in pairwise(path))
                for path in paths
            ]
        )
        assert tuple(best[start:end]) == paths[int(said.argmax())]
        wanted = np.zeros((end - start, 3))
        for path, own in zip(paths, np.exp(said - said.max()), strict=True):
            wanted[np.arange(end - start), path] += own / np.exp(said - said.max()).sum()
        np.testing.assert_allclose(chances[start:end], wanted, atol=1e-5 if kind is np.float32 else 1e-12)


def test_of_no_words():
    nothing = np.zeros((0, 3))
    for ends in (np.zeros(1, dtype=np.int64), np.zeros(3, dtype=np.int64)):
        assert viterbi(nothing, ends, np.zeros((3, 3))).shape == (0,)
        assert marginals(nothing, ends, np.zeros((3, 3))).shape == (0, 3)
