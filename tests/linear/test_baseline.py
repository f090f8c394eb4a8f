"""The linear baseline, on a corpus of four texts."""

import numpy as np
import pytest
from scipy.sparse import hstack
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.svm import LinearSVC

from headwise.linear.baselines import fit_baseline
from headwise.linear.sklearn_models import SVM_STRENGTHS

TRAIN = ["good film", "good good plot", "bad film", "bad plot bad"]
TARGETS = np.array([1, 1, 0, 0])


def fit(train=TRAIN, dev=("good", "bad"), dev_targets=(1, 0), **options):
    return fit_baseline((train, TARGETS), (dev, np.array(dev_targets)), **options)


def test_predicts_what_the_words_say():
    fitted = fit()
    assert fitted.predict(["a good one", "so bad", "Bad bad"]).tolist() == [1, 0, 0]
    assert fitted.dev_accuracy == 1.0
    assert fitted.strength == SVM_STRENGTHS[0]  # the simplest of those that are equally good


def test_strength_is_the_best_on_dev():
    random = np.random.default_rng(0)
    words = [f"w{i}" for i in range(30)]
    texts = [" ".join(random.choice(words, 6)) for _ in range(60)]
    targets = np.array([("w1" in t.split()) ^ (random.random() < 0.3) for t in texts], dtype=int)
    train, dev = (texts[:40], targets[:40]), (texts[40:], targets[40:])
    fitted = fit_baseline(train, dev)
    assert fitted is not None
    assert fitted.dev_accuracy == np.mean(fitted.predict(dev[0]) == dev[1])
    # scikit-learn's with any strength, on words alone or on both, is hardly better.
    for columns in ("words", "both"):
        vectorizers = [
            TfidfVectorizer(token_pattern=r"\S+", ngram_range=(1, 2), sublinear_tf=True),
            TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True),
        ][: 1 if columns == "words" else 2]
        features = hstack([vectorizer.fit_transform(train[0]) for vectorizer in vectorizers])
        dev_features = hstack([vectorizer.transform(dev[0]) for vectorizer in vectorizers])
        for strength in SVM_STRENGTHS:
            peer = LinearSVC(C=strength, random_state=0).fit(features, train[1])
            assert np.mean(peer.predict(dev_features) == dev[1]) <= fitted.dev_accuracy + 0.05


def test_deterministic():
    first, second = fit(), fit()
    np.testing.assert_array_equal(first.model.coefficients.weights, second.model.coefficients.weights)
    assert first.strength == second.strength


def test_reads_the_words_of_the_models_tokenizer():
    train = ["don't a", "b don't", "c", "c"]
    assert len(fit(train).model.blocks["words"]) == len({"do", "n't", "a", "b", "c"}) + 3
    assert len(fit(train, tokenizer="whitespace").model.blocks["words"]) == 4 + 2


def test_characters_where_they_are_better_on_dev():
    assert fit().blocks == ("words",)  # the simplest of those that are equally good
    fitted = fit(dev=("goodness", "badly", "badness"), dev_targets=(1, 0, 0))
    assert fitted.blocks == ("words", "characters")
    assert fitted.predict(["goodly"]).tolist() == [1]


@pytest.mark.parametrize("train", [["", " ", "\n", ""]])
def test_texts_without_words_give_none(train):
    assert fit(train) is None


def test_three_classes_and_texts_without_known_words():
    train = (["red", "green", "blue", "red red"], np.array([0, 1, 2, 0]))
    fitted = fit_baseline(train, (["red", "blue"], np.array([0, 2])))
    assert fitted is not None
    assert fitted.predict(["green", "blue", "red"]).tolist() == [1, 2, 0]
    assert fitted.predict(["", "unseen"]).shape == (2,)


def test_once_dev_has_chosen_it_may_learn_of_dev_too():
    dev, targets = ["fine fine", "dull", "good dull"], (1, 0, 0)
    one, both = (fit(dev=dev, dev_targets=targets, refit=again) for again in (False, True))
    assert (both.strength, both.blocks, both.dev_accuracy) == (one.strength, one.blocks, one.dev_accuracy)
    assert len(both.model.blocks["words"]) == len(one.model.blocks["words"]) + len(
        {"fine", "dull", "fine fine", "good dull"}
    )
    coefficients = LinearSVC(C=both.strength, random_state=0)
    vectorizer = TfidfVectorizer(token_pattern=r"\S+", ngram_range=(1, 2), sublinear_tf=True)
    coefficients.fit(vectorizer.fit_transform([*TRAIN, *dev]), np.concatenate([TARGETS, targets]))
    texts = ["fine", "dull", "good", "bad", "fine plot", "dull plot"]
    assert both.predict(texts).tolist() == coefficients.predict(vectorizer.transform(texts)).tolist()


@pytest.mark.parametrize("refit", [False, True])
def test_of_very_many_texts_a_fifth_chooses_and_all_are_learnt(monkeypatch, refit):
    random = np.random.default_rng(0)
    words = [f"w{i}" for i in range(30)]
    texts = [" ".join(random.choice(words, 6)) for _ in range(260)]
    targets = np.array([("w1" in t.split()) ^ (random.random() < 0.3) for t in texts], dtype=int)
    train, dev, test = (texts[:200], targets[:200]), (texts[200:240], targets[200:240]), texts[240:]
    monkeypatch.setattr("headwise.linear.baselines.MOST_CELLS", 399)
    chosen = fit_baseline(train, dev, refit=refit)
    monkeypatch.setattr("headwise.linear.baselines.MOST_CELLS", 400)
    few = fit_baseline((train[0][::5], train[1][::5]), dev)
    assert chosen is not None
    assert few is not None
    assert (chosen.blocks, chosen.strength, chosen.dev_accuracy) == (
        few.blocks,
        few.strength,
        few.dev_accuracy,
    )
    monkeypatch.setattr("headwise.linear.baselines.BLOCKS", (chosen.blocks,))
    monkeypatch.setattr("headwise.linear.baselines.SVM_STRENGTHS", (chosen.strength,))
    fixed = fit_baseline(train, dev, refit=refit)
    assert fixed is not None
    np.testing.assert_allclose(chosen.model.scores(test), fixed.model.scores(test), rtol=1e-6)
    assert not np.allclose(chosen.model.scores(test), few.model.scores(test))
