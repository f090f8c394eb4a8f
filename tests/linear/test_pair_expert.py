"""The linear expert of pairs: features by hand, and what it learns."""

from functools import partial

import numpy as np
import pytest

from headwise.features.ngrams import NgramVocabulary
from headwise.linear.expert import fit_linear_expert
from headwise.linear.pair_expert import NUMBERS, PairExpert, compared_vectors, overlap, pair_features


def numbers(*texts: list[int]) -> list[np.ndarray]:
    return [np.array(text, dtype=np.int64) for text in texts]


fit = partial(fit_linear_expert, kind=PairExpert)


def test_features_by_hand():
    firsts, seconds = numbers([1, 2], [], [0, 3]), numbers([2, 3], [], [0, 3])
    vocabulary = NgramVocabulary.build([*firsts, *seconds])
    size = len(vocabulary.keys)
    found = pair_features(vocabulary, list(zip(firsts, seconds, strict=True))).toarray()
    assert found.shape == (3, 4 * size + NUMBERS)
    a, b = vocabulary.transform(firsts).toarray(), vocabulary.transform(seconds).toarray()
    expected = [np.minimum(a, b), np.maximum(a - b, 0), np.maximum(b - a, 0), b]
    np.testing.assert_allclose(found[:, : 4 * size], np.hstack(expected), atol=1e-6)
    np.testing.assert_allclose(found[0, 4 * size :], overlap([1, 2], [2, 3]), atol=1e-6)
    # Two unknown words are not taken for the same.
    np.testing.assert_allclose(found[2, 4 * size :], overlap([-1, 3], [-2, 3]), atol=1e-6)
    assert found[2, 4 * size + 5] == 0
    assert found[1, 4 * size + 5] == 1


def problem(pairs: int, seed: int, classes: int):
    """How many of three words both texts share."""
    random = np.random.default_rng(seed)
    found, targets = [], []
    for _ in range(pairs):
        one = random.choice(np.arange(1, 40), 4, replace=False)
        keep = int(random.integers(0, classes))
        other = random.choice(np.arange(40, 60), 4 - keep, replace=False)
        found.append((one.astype(np.int64), np.concatenate([one[:keep], other]).astype(np.int64)))
        targets.append(keep)
    return found, np.array(targets)


def test_it_learns_overlap_of_two_and_three_classes():
    for classes in (2, 3):
        test = problem(80, 2, classes)
        expert = fit(problem(300, 0, classes), problem(80, 1, classes), classes)
        assert expert is not None
        scores = expert(test[0])
        assert (scores.argmax(axis=1) == test[1]).mean() > 0.95
        alone = np.concatenate([expert([pair]) for pair in test[0]])
        np.testing.assert_allclose(alone, scores, atol=1e-5)


def test_no_known_words():
    pairs = list(zip(numbers([0], [0, 0], []), numbers([], [0], [0]), strict=True))
    assert fit((pairs, np.array([0, 1, 0])), (pairs, np.array([0, 1, 0])), 2) is None


def test_vectors_that_compare():
    random = np.random.default_rng(0)
    first, second = random.normal(size=(2, 5, 3)).astype(np.float32)
    found = compared_vectors(first, second)
    for row, a, b in zip(found, first, second, strict=True):
        np.testing.assert_allclose(row[:3], np.abs(a - b) / np.linalg.norm(a - b), rtol=1e-5)
        np.testing.assert_allclose(row[3:6], a * b / np.linalg.norm(a * b), rtol=1e-5)
        assert row[6] == pytest.approx(a @ b, rel=1e-4, abs=1e-6)
    same = compared_vectors(first, first)
    np.testing.assert_array_equal(same[:, :3], 0)


def test_it_learns_what_the_vectors_say_where_words_say_nothing():
    random = np.random.default_rng(0)
    first, second = random.normal(size=(2, 400, 4)).astype(np.float32)
    targets = (np.sum(first * second, axis=1) > 0).astype(np.int64)
    word = np.array([1, 2], dtype=np.int64)
    pairs = [(word, word, own) for own in compared_vectors(first, second)]
    expert = fit((pairs[:300], targets[:300]), (pairs[300:], targets[300:]), 2)
    assert expert is not None
    assert expert.sizes()["vectors"] == 9
    assert (expert(pairs[300:]).argmax(axis=1) == targets[300:]).mean() > 0.9
