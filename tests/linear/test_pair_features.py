"""What linear models read of pairs: by hand and by brute force, and what they learn of it."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from headwise.linear import pair_features
from headwise.linear.linear_fit import LinearExamples, fit_linear
from headwise.linear.pair_features import (
    GROUPS,
    NUMBERS,
    OVERLAPS,
    compare_matrices,
    dense_pair_features,
    overlap,
)
from headwise.linear.tfidf_features import BlockReader
from headwise.nn.networks.linear_members import TextLinearBuffers


def test_compared_by_hand():
    random = np.random.default_rng(0)
    a, b = (np.maximum(random.normal(size=(3, 5)), 0).astype(np.float32) for _ in range(2))
    compared = compare_matrices(csr_matrix(a), csr_matrix(b)).toarray()
    expected = [np.minimum(a, b), np.maximum(a - b, 0), np.maximum(b - a, 0), b]
    np.testing.assert_allclose(compared, np.hstack(expected), atol=1e-6)


@pytest.mark.parametrize("block", ["words", "characters"])
def test_a_reader_of_pairs_compares_what_a_reader_of_texts_finds(block):
    pairs = [("a red house", "the red houses"), ("", "a house"), ("same", "same")]
    vocabulary, read = BlockReader(block, pairs=True).fit(pairs, max_features=1_000)
    of_texts = BlockReader(block)
    first, second = (of_texts.transform([pair[side] for pair in pairs], vocabulary) for side in (0, 1))
    np.testing.assert_allclose(read.toarray(), compare_matrices(first, second).toarray(), atol=1e-6)
    again = BlockReader(block, pairs=True).transform(pairs[1:], vocabulary)
    np.testing.assert_allclose(again.toarray(), read.toarray()[1:], atol=1e-6)
    assert read.shape == (3, GROUPS * len(vocabulary))
    assert BlockReader(block, pairs=True).transform([], vocabulary).shape == (0, GROUPS * len(vocabulary))


def align_words(first, second):
    sides = ((np.zeros(len(vectors), dtype=np.int64), vectors) for vectors in (first, second))
    features = dense_pair_features(*sides)
    size = 4 * first.shape[1] + 1
    return features[:size], features[size + OVERLAPS :]


def unit(vector):
    return vector / np.linalg.norm(vector)


def test_matches_by_brute_force():
    random = np.random.default_rng(1)
    first, second = (
        random.normal(size=(4, 6)).astype(np.float32),
        random.normal(size=(3, 6)).astype(np.float32),
    )
    vectors, numbers = align_words(first, second)
    u, v = unit(first.sum(0)), unit(second.sum(0))
    expected, expected_numbers = [unit(np.abs(u - v)), unit(u * v)], []
    for words, rivals in ((first, second), (second, first)):
        best = [max(0.0, max(float(unit(word) @ unit(rival)) for rival in rivals)) for word in words]
        counts = [float(np.linalg.norm(word)) for word in words]
        left = [(1 - match) * word for match, word in zip(best, words, strict=True)]
        expected.append(unit(np.sum(left, axis=0)))
        expected_numbers += [
            float(np.dot(best, counts) / sum(counts)),
            min(best),
            max(np.linalg.norm(word) for word in left) / max(counts),
        ]
    np.testing.assert_allclose(vectors, np.concatenate([*expected, [u @ v]]), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(numbers, expected_numbers, rtol=1e-4)
    assert OVERLAPS + len(numbers) == NUMBERS


def test_matches_of_the_same_and_of_nothing():
    words, nothing = np.eye(3, dtype=np.float32)[:2], np.zeros((0, 3), dtype=np.float32)
    vectors, numbers = align_words(words, words)
    np.testing.assert_allclose(vectors[6:12], 0, atol=1e-6)
    assert vectors[-1] == pytest.approx(1)
    np.testing.assert_allclose(numbers, [1, 1, 0] * 2, atol=1e-6)
    vectors, numbers = align_words(words, nothing)
    np.testing.assert_allclose(vectors[6:9], unit(words.sum(0)), atol=1e-6)  # all is left of the first
    np.testing.assert_allclose(numbers, [0, 0, 1, 0, 1, 0], atol=1e-6)
    assert np.isfinite(align_words(nothing, nothing)[0]).all()


def test_of_long_texts_the_words_that_count_most_are_matched(monkeypatch):
    monkeypatch.setattr(pair_features, "MOST_MATCHED", 2)
    first = np.diag([3.0, 0.1, 2.0]).astype(np.float32)
    second = np.array([[0, 1, 0]], dtype=np.float32)
    np.testing.assert_allclose(
        align_words(first, second)[1][:2], 0
    )  # the word that has a match counts least
    same = align_words(first[[0, 2]], second)[1]
    np.testing.assert_allclose(align_words(first, second)[1], same)


def test_overlap_by_hand():
    assert overlap(["a", "b"], ["b", "c", "b"])[:3] == (1 / 2, 1 / 2, 1 / 3)
    assert overlap(["a", "b", "c"], ["a", "b"])[3:6] == (1 / 2, 1, 0)
    assert overlap([], []) == (0, 0, 0, 0, 0, 1, 0, 0)


@pytest.mark.parametrize(
    ("first", "second"),
    [([], []), ([1], []), ([1, 2, 1], [2, 1, 3, 1, 2]), ([4, 5], [4, 5]), ([0, 1, 0], [0, 1, 0])],
)
def test_overlap_of_word_indices(first, second):
    """The kernel counts as `overlap` does; index 0 matches no word of the other text."""
    sides = [np.array(words, dtype=np.int64) for words in (first, second)]
    features = dense_pair_features(*((words, np.zeros((len(words), 2), np.float32)) for words in sides))
    marked = ([word or unknown for word in words] for words, unknown in ((first, "?"), (second, "!")))
    np.testing.assert_allclose(features[9 : 9 + OVERLAPS], overlap(*marked), rtol=1e-6)


def problem(pairs: int, seed: int, classes: int) -> tuple[list[tuple[str, str]], np.ndarray]:
    """How many of four words both texts share."""
    random = np.random.default_rng(seed)
    text_pairs, targets = [], []
    for _ in range(pairs):
        one = random.choice(np.arange(1, 40), 4, replace=False)
        keep = int(random.integers(0, classes))
        new_words = random.choice(np.arange(40, 60), 4 - keep, replace=False)
        texts = (one, [*one[:keep], *new_words])
        text_pairs.append(tuple(" ".join(f"w{word}" for word in text) for text in texts))
        targets.append(keep)
    return text_pairs, np.array(targets)


def overlaps(pairs: list[tuple[str, str]]) -> np.ndarray:
    return np.array([overlap(first.split(), second.split()) for first, second in pairs], dtype=np.float32)


@pytest.mark.parametrize("classes", [2, 3])
def test_it_learns_overlap(classes):
    (pairs, targets), (tests, truth) = problem(300, 0, classes), problem(80, 1, classes)
    fitted = fit_linear(LinearExamples(pairs, targets, classes, numbers=overlaps(pairs), pairs=True))
    scores = fitted.model.scores(tests, None, overlaps(tests))
    assert (scores.argmax(axis=1) == truth).mean() > 0.95
    assert fitted.cv_score > 0.95
    alone = np.concatenate([fitted.model.scores([pair], None, overlaps([pair])) for pair in tests])
    np.testing.assert_allclose(alone, scores, atol=1e-5)


def test_it_learns_what_vectors_say_where_words_say_nothing():
    random = np.random.default_rng(0)
    vectors = random.normal(size=(400, 9)).astype(np.float32)
    targets = (vectors[:, 2] > 0).astype(np.int64)
    pairs = [("the same", "the same")] * 400
    numbers = np.zeros((400, NUMBERS), dtype=np.float32)
    model = fit_linear(
        LinearExamples(
            pairs[:300], targets[:300], 2, dense=vectors[:300], numbers=numbers[:300], pairs=True
        )
    ).model
    linear_model = TextLinearBuffers.of(model)
    assert linear_model.sizes()["vectors"] == 9
    scores = linear_model(pairs[300:], vectors[300:], numbers[300:])
    assert (scores.argmax(axis=1) == targets[300:]).mean() > 0.9


def test_what_rounding_leaves_has_no_direction():
    """Of texts with the same words nothing is left, and nothing is what they differ by, however they are
    scaled: else it would depend on the machine."""
    random = np.random.default_rng(0)
    for scale in (1.0, 1 / 3, 0.7):
        words = (scale * random.normal(size=(7, 48)) / 7).astype(np.float32)
        vectors, _ = align_words(words, words[random.permutation(7)])
        assert not vectors[:48].any()
        assert not vectors[2 * 48 : 4 * 48].any()
        assert np.linalg.norm(vectors[48 : 2 * 48]) == pytest.approx(1)
