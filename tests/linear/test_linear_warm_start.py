"""Warm starts of linear models."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from headwise.data.items.label_types import LABEL_SET_TYPE, SINGLE_LABEL_TYPE
from headwise.linear import linear_tables as text_tables
from headwise.linear import svm_solver as solver
from headwise.linear.linear_fit import LinearExamples, fit_linear
from headwise.linear.linear_settings import LinearSettings
from headwise.linear.linear_warm_start import LinearWarmStart
from headwise.linear.linear_weights import DesignMatrix
from headwise.linear.svm_solver import LinearProblem, fit_svm_columns
from headwise.linear.tfidf_features import FeatureVocabulary
from headwise.nn.networks.linear_members import TextLinearBuffers


def corpus(classes: int, texts: int, seed: int = 0, noise: float = 0.3, first: int = 0):
    """Texts of which the words tell the label, most of the time."""
    random = np.random.default_rng(seed)
    targets = random.permutation(texts) % classes
    words = [
        [f"w{first + (k if random.random() > noise else random.integers(classes))}x{random.integers(9)}"
         for _ in range(6)] for k in targets
    ]  # fmt: skip
    return [" ".join(text_words) for text_words in words], targets


def earlier_of(model, labels) -> LinearWarmStart:
    return LinearWarmStart(TextLinearBuffers.of(model).contents(), tuple(labels))


def test_offsets_against_a_general_optimizer(monkeypatch):
    monkeypatch.setattr(solver, "TOLERANCE", 1e-6)
    monkeypatch.setattr(solver, "MAX_EPOCHS", 5000)
    random = np.random.default_rng(0)
    shares = random.random((40, 8), dtype=np.float32)
    sparse = csr_matrix(np.where(shares < 0.4, 2.5 * shares, 0))
    dense = random.normal(size=(40, 3)).astype(np.float32)
    signs = random.choice([-1, 1], (40, 2)).astype(np.int8)
    offsets = random.normal(size=(40, 2)).astype(np.float32)
    costs = random.uniform(0.2, 2, (40, 2)).astype(np.float32)
    solution = fit_svm_columns(LinearProblem(DesignMatrix(sparse, dense), signs, costs, offsets=offsets))
    wide = np.hstack([sparse.toarray(), dense, np.ones((40, 1))])
    for k in range(2):

        def loss(w, k=k):
            short = np.maximum(0, 1 - signs[:, k] * (wide @ w + offsets[:, k]))
            return 0.5 * w @ w + (costs[:, k] * short**2).sum()

        best = minimize(loss, np.zeros(12), tol=1e-12).x
        solved = np.concatenate([solution.weights[:, k], solution.dense[:, k], solution.bias[k : k + 1]])
        np.testing.assert_allclose(solved, best, atol=2e-3)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("size", [0, 5])
def test_what_learns_nothing_says_what_the_earlier_said(classes, size):
    random = np.random.default_rng(0)
    texts, targets = corpus(classes, 200)
    vectors = random.normal(size=(200, 5)).astype(np.float32) + 3 if size else None
    first = fit_linear(LinearExamples(texts, targets, classes, dense=vectors)).model
    part = slice(0, 60)
    part_vectors = None if vectors is None else vectors[part]
    dense = 1.0 if size else 0.0
    quiet = LinearSettings(tuple(first.blocks), ratios=False, strength=1e-7, dense=dense, start=1.0)
    previous = earlier_of(first, range(classes))
    again = fit_linear(
        LinearExamples(texts[part], targets[part], classes, dense=part_vectors),
        settings=quiet,
        previous=previous,
    ).model
    before, after = first.scores(texts, vectors), again.scores(texts, vectors)
    slope = (before * after).sum() / (before * before).sum()
    np.testing.assert_allclose(after, slope * before, atol=0.03 * np.abs(after).max())


def test_few_texts_go_further():
    first = fit_linear(LinearExamples(*corpus(3, 400, noise=0.6), 3)).model
    texts, targets = corpus(3, 15, seed=1, noise=0.6)
    tests, truth = corpus(3, 300, seed=2, noise=0.6)
    anew = fit_linear(LinearExamples(texts, targets, 3)).model.scores(tests)
    fitted = fit_linear(LinearExamples(texts, targets, 3), previous=earlier_of(first, range(3)))
    on = fitted.model.scores(tests)
    assert fitted.settings.start > 0
    assert (on.argmax(1) == truth).mean() > (anew.argmax(1) == truth).mean() + 0.1


def test_an_earlier_model_that_is_wrong_is_left():
    texts, targets = corpus(2, 300, noise=0.1)
    first = fit_linear(LinearExamples(texts, 1 - targets, 2)).model
    fitted = fit_linear(LinearExamples(texts, targets, 2), previous=earlier_of(first, range(2)))
    assert fitted.settings.start == 0
    assert fitted.cv_score > 0.9


@pytest.mark.parametrize(
    ("before", "labels"),
    [(2, (1, 0)), (2, (-1, 0, 1)), (2, (1, -1)), (3, (2, 0)), (3, (1, -1, 2)), (3, (-1, 1))],
)
def test_labels_keep_their_scores_and_new_ones_begin_with_none(before, labels):
    first = earlier_of(fit_linear(LinearExamples(*corpus(before, 100), before)).model, labels)
    texts = corpus(before, 20, seed=1)[0]
    margins = first.model.coefficients.scores(first.model.rows(texts))
    full = np.hstack([-margins, margins]) if before == 2 else margins
    per_label = np.stack([full[:, n] if n >= 0 else np.zeros(20) for n in labels], axis=1)
    columns = len(labels) if len(labels) > 2 else 1
    coefficients = first.coefficients(first.model.blocks, 0, columns)
    expected = (
        per_label if columns > 1 else (per_label[:, 1:] - per_label[:, :1]) / sum(n >= 0 for n in labels)
    )
    np.testing.assert_allclose(coefficients.scores(first.model.rows(texts)), expected, atol=1e-4)


def test_it_knows_the_words_of_both_and_how_rare_they_were():
    texts, targets = corpus(2, 100)
    first = fit_linear(LinearExamples(texts, targets, 2)).model
    new_texts, new_targets = corpus(2, 100, first=5)
    model = fit_linear(
        LinearExamples(new_texts, new_targets, 2), previous=earlier_of(first, range(2))
    ).model
    for name, theirs in first.blocks.items():
        keys = model.blocks[name].keys
        assert (np.diff(keys.astype(np.int64)) > 0).all()
        places = np.searchsorted(keys, theirs.keys)
        np.testing.assert_array_equal(keys[places], theirs.keys)
        np.testing.assert_allclose(model.blocks[name].idf[places], theirs.idf)
    assert len(model.blocks["words"]) > len(first.blocks["words"])


def test_of_too_many_words_those_with_the_largest_weights_stay():
    first = fit_linear(LinearExamples(*corpus(3, 200), 3)).model
    previous = earlier_of(first, range(3))
    nothing = FeatureVocabulary(np.zeros(0, dtype=np.uint32), np.zeros(0, dtype=np.float32))
    vocabularies = {name: previous.vocabulary(name, nothing, 5) for name in first.blocks}
    coefficients = previous.coefficients(vocabularies, 0, 3)
    begin = 0
    for number, (name, theirs) in enumerate(first.blocks.items()):
        weights = previous.model.coefficients.weights[begin : begin + len(theirs)]
        begin += len(theirs)
        sizes = np.abs(weights).max(axis=1)
        mask = np.isin(theirs.keys, vocabularies[name].keys)
        assert mask.sum() == 5
        assert sizes[mask].min() >= sizes[~mask].max()
        np.testing.assert_array_equal(coefficients.weights[5 * number : 5 * number + 5], weights[mask])


def test_label_sets_and_soft_labels_go_on_too():
    texts, targets = corpus(3, 200)
    sets = np.eye(3, dtype=np.bool_)[targets]
    first = fit_linear(LinearExamples(texts, sets, 3, label_type=LABEL_SET_TYPE)).model
    few, few_targets = corpus(3, 12, seed=1)
    tests, truth = corpus(3, 200, seed=2)
    for label_type, labels in (
        (LABEL_SET_TYPE, np.eye(3, dtype=np.bool_)[few_targets]),
        (SINGLE_LABEL_TYPE, np.eye(3)[few_targets] * 0.8 + 0.2 / 3),
    ):
        previous = earlier_of(first, range(3))
        model = fit_linear(LinearExamples(few, labels, 3, label_type=label_type), previous=previous).model
        assert (model.scores(tests).argmax(1) == truth).mean() > 0.8


def test_thinned_weights_are_gone_on_with(monkeypatch):
    texts, targets = corpus(40, 400, noise=0.1)
    first = TextLinearBuffers.of(fit_linear(LinearExamples(texts, targets, 40)).model)
    assert first.tables.stored_weights
    monkeypatch.setattr(text_tables, "MOST_DENSE", 1)
    previous = LinearWarmStart(first.contents(), tuple(range(40)))
    assert isinstance(previous.model.coefficients.weights, csr_matrix)
    few, few_targets = corpus(40, 80, seed=1, noise=0.1)
    tests, truth = corpus(40, 200, seed=2, noise=0.1)
    scores = fit_linear(LinearExamples(few, few_targets, 40), previous=previous).model.scores(tests)
    assert (scores.argmax(1) == truth).mean() > 0.8


def test_labels_of_which_it_knows_none():
    texts, targets = corpus(2, 80)
    first = fit_linear(LinearExamples(texts, targets, 2)).model
    fitted = fit_linear(LinearExamples(texts, targets, 2), previous=earlier_of(first, (-1, -1)))
    assert fitted.settings.start == 0
    assert fitted.cv_score > 0.8
