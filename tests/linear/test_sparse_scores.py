"""Scores in one pass are those of the feature matrix times the weights."""

from copy import deepcopy
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from headwise.core import native
from headwise.linear.linear_fit import LinearExamples, fit_linear
from headwise.linear.linear_model import LinearModel, SparseScores, expand_columns
from headwise.linear.linear_weights import LinearWeights
from headwise.linear.pair_features import GROUPS
from headwise.linear.tfidf_features import BlockName, BlockReader, FeatureVocabulary
from headwise.text.text_reader import text_reader

WORDS = ["good", "bad", "so", "a", "film", "Fine", "don\u2019t", "J.", "Row", "<br", "/>"]
WORDS += ["\u00e9t\u00e9", "e\u0301", "\ud800", "x" * 50]
texts = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join) | st.text(max_size=15)
BLOCKS: list[tuple[BlockName, ...]] = [("words",), ("characters",), ("words", "characters")]


@cache
def model(
    blocks: tuple[BlockName, ...], columns: int, reach: int, edges: bool, *, pairs: bool = False
) -> LinearModel:
    random = np.random.default_rng(columns)
    train = [" ".join(random.choice(WORDS, 8)) for _ in range(60)]
    vocabularies: dict[BlockName, FeatureVocabulary] = {
        name: BlockReader(name, reach=reach, edges=edges).fit(train, max_features=500)[0] for name in blocks
    }
    features = sum(map(len, vocabularies.values())) * (GROUPS if pairs else 1)
    weights = random.normal(size=(features, columns)).astype(np.float32)
    coefficients = LinearWeights(weights, np.zeros((0, columns), np.float32), np.ones(columns, np.float32))
    return LinearModel(vocabularies, coefficients, max(columns, 2), pairs=pairs, reach=reach, edges=edges)


def by_matrix(linear: LinearModel, items: list[str]) -> np.ndarray:
    return expand_columns(linear.coefficients.scores(linear.rows(items)), linear.classes)


@pytest.mark.parametrize("columns", [1, 3, 9])
@settings(max_examples=80, deadline=None)
@given(
    blocks=st.sampled_from(BLOCKS),
    reading=st.sampled_from([(1, False), (3, True)]),
    items=st.lists(texts, max_size=5),
)
def test_scores_are_those_of_the_matrix(blocks, columns, reading, items):
    linear = model(blocks, columns, *reading)
    for scorer in (linear, deepcopy(linear)):
        scores = scorer.scores(items)
        assert scores.dtype == np.float32
        np.testing.assert_allclose(scores, by_matrix(linear, items), atol=1e-5)
        np.testing.assert_array_equal(scorer.scores(items), scores)


@pytest.mark.parametrize("columns", [1, 3])
@settings(max_examples=60, deadline=None)
@given(blocks=st.sampled_from(BLOCKS), items=st.lists(st.tuples(texts, texts), max_size=5))
def test_scores_of_pairs_are_those_of_the_matrix(blocks, columns, items):
    linear = model(blocks, columns, 1, False, pairs=True)
    scores = linear.scores(items)
    assert scores.shape == (len(items), linear.classes)
    np.testing.assert_allclose(scores, by_matrix(linear, items), atol=1e-5)
    np.testing.assert_array_equal(linear.scores(items), scores)


@pytest.mark.parametrize("columns", [2, 5, 8, 9, 77])
def test_columns_are_summed_in_64_bits(columns):
    """Each as if it stood alone."""
    linear = model(("words", "characters"), columns, 1, False)
    weights = np.float32(1000) * np.asarray(linear.coefficients.weights)
    read = text_reader(linear.tokenizer).read(["good bad so a film", "Fine J. <br />", ""])
    together = SparseScores(linear.blocks, weights, 1, edges=False)(read)
    assert np.abs(together).max() > 100
    for column in range(columns):
        alone = SparseScores(linear.blocks, weights[:, [column]], 1, edges=False)(read)
        np.testing.assert_allclose(together[:, [column]], alone, rtol=0, atol=1e-10)


def test_large_scores_of_both_signs_cancel():
    random = np.random.default_rng(0)
    numbers, dense = (30 * random.normal(size=size).astype(np.float32) for size in ((1, 50), (50, 3)))
    dense[-1] = (0.5 - numbers[:, :-1].astype(np.float64) @ dense[:-1]) / numbers[:, -1:]
    blank = model(("words",), 3, 1, False)
    coefficients = LinearWeights(blank.coefficients.weights, dense, np.zeros(3, np.float32))
    scores = replace(blank, coefficients=coefficients, tabular=50).scores([""], numbers=numbers)
    exact = numbers.astype(np.float64) @ dense
    assert np.abs(numbers[0] * dense[:, 0]).max() > 1000
    assert np.abs(exact).max() < 1
    np.testing.assert_allclose(scores, exact, rtol=0, atol=1e-6)


def test_a_word_that_is_very_frequent():
    linear = model(("words", "characters"), 1, 1, False)
    items = ["good " * 5_000, "good bad " * 2_000]
    np.testing.assert_allclose(linear.scores(items), by_matrix(linear, items), atol=1e-5)


def test_fitted_models_with_all_inputs():
    random = np.random.default_rng(0)
    items = [" ".join(random.choice(WORDS, 8)) + " good" * (place % 3) for place in range(90)]
    vectors = random.normal(size=(90, 4)).astype(np.float32)
    weights = np.ones(90, dtype=np.float32)
    linear = fit_linear(
        LinearExamples(items, np.arange(90) % 3, 3, sample_weight=weights, dense=vectors)
    ).model
    rows = linear.rows(items, vectors)
    np.testing.assert_allclose(linear.scores(items, vectors), linear.coefficients.scores(rows), atol=1e-5)


def test_sparse_weights_take_the_matrix():
    linear = model(("words",), 3, 1, False)
    sparse = replace(
        linear, coefficients=replace(linear.coefficients, weights=csr_matrix(linear.coefficients.weights))
    )
    assert sparse.sparse_scores is None
    np.testing.assert_allclose(sparse.scores(["good film"]), linear.scores(["good film"]), atol=1e-5)


def test_the_scorer_refuses_what_it_cannot_use():
    keys, idf = np.array([5, 7], dtype=np.uint32), np.ones(2, dtype=np.float32)
    none, no_idf = keys[:0], idf[:0]
    weights = np.ones((2, 1), dtype=np.float32)
    with pytest.raises(ValueError, match="one IDF"):
        native.SparseScorer(keys, no_idf, none, no_idf, weights, 1, False, 2, 5, False)
    with pytest.raises(ValueError, match="row of weights"):
        native.SparseScorer(keys[:1], idf[:1], none, no_idf, weights, 1, False, 2, 5, False)
    scorer = native.SparseScorer(keys, idf, none, no_idf, weights, 1, False, 2, 5, False)
    ends = np.array([0, 1])
    for bad in (0, -1):
        one = np.array([bad], dtype=np.int32)
        with pytest.raises(ValueError, match="new token"):
            scorer.scores(one, ends, one[:0], np.zeros(2, dtype=np.int64))
        with pytest.raises(ValueError, match="new piece"):
            scorer.scores(one[:0], np.zeros(2, dtype=np.int64), one, ends)
    nothing, bounds = np.zeros(0, dtype=np.int32), np.zeros(3, dtype=np.int64)
    with pytest.raises(ValueError, match="scorer of single texts"):
        scorer.pair_scores(nothing, bounds, nothing, bounds)
    rows = np.ones((8, 1), dtype=np.float32)
    of_pairs = native.SparseScorer(keys, idf, none, no_idf, rows, 1, False, 2, 5, True)
    with pytest.raises(ValueError, match="scorer of pairs"):
        of_pairs.scores(nothing, bounds, nothing, bounds)
    with pytest.raises(ValueError, match="has a partner"):
        of_pairs.pair_scores(nothing, bounds[:2], nothing, bounds[:2])
