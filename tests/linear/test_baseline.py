"""The linear baseline, by hand on a corpus of four texts."""

import math

import numpy as np
import pytest

from headwise.linear.baseline import fit_baseline
from headwise.linear.svm import STRENGTHS

TRAIN = ["good film", "good good plot", "bad film", "bad plot bad"]
TARGETS = np.array([1, 1, 0, 0])


def fit(train=TRAIN, dev=("good", "bad"), dev_targets=(1, 0), **options):
    return fit_baseline((train, TARGETS), (dev, np.array(dev_targets)), **options)


def test_features_are_tf_idf_of_words_and_pairs_with_logarithmic_counts():
    vectorizer = fit().vectorizer
    assert sorted(vectorizer.vocabulary_) == [
        *("bad", "bad film", "bad plot", "film", "good", "good film", "good good", "good plot", "plot"),
        "plot bad",
    ]
    # "good good plot": idf = ln((1 + 4) / (1 + texts with it)) + 1, times 1 + ln(count), length 1.
    common, rare = math.log(5 / 3) + 1, math.log(5 / 2) + 1
    weights = {
        "good": common * (1 + math.log(2)),
        "plot": common,
        "good good": rare,
        "good plot": rare,
    }
    norm = math.sqrt(sum(weight**2 for weight in weights.values()))
    row = vectorizer.transform([TRAIN[1]]).toarray()[0]
    found = {name: row[number] for name, number in vectorizer.vocabulary_.items() if row[number]}
    assert found == pytest.approx({name: weight / norm for name, weight in weights.items()})


def test_predicts_what_the_words_say():
    fitted = fit()
    assert fitted.predict(["a good one", "so bad", "Bad bad"]).tolist() == [1, 0, 0]
    assert fitted.dev_accuracy == 1.0
    assert fitted.strength == STRENGTHS[0]  # the simplest of those that are equally good


def test_strength_is_the_best_on_dev():
    random = np.random.default_rng(0)
    words = [f"w{i}" for i in range(30)]
    texts = [" ".join(random.choice(words, 6)) for _ in range(60)]
    targets = np.array([("w1" in t.split()) ^ (random.random() < 0.3) for t in texts], dtype=int)
    train, dev = (texts[:40], targets[:40]), (texts[40:], targets[40:])
    fitted = fit_baseline(train, dev)
    assert fitted is not None
    assert fitted.dev_accuracy == np.mean(fitted.predict(dev[0]) == dev[1])
    # The same with any other strength is not better.
    from sklearn.svm import LinearSVC

    features, others = fitted.vectorizer.transform(train[0]), fitted.vectorizer.transform(dev[0])
    for strength in STRENGTHS:
        other = LinearSVC(C=strength, random_state=0).fit(features, train[1])
        assert np.mean(other.predict(others) == dev[1]) <= fitted.dev_accuracy


def test_deterministic():
    first, second = fit(), fit()
    assert np.array_equal(first.classifier.coef_, second.classifier.coef_)
    assert first.strength == second.strength


def test_reads_the_words_of_the_models_tokenizer():
    train = ["don't a", "b don't", "c", "c"]
    assert "n't" in fit(train).vectorizer.vocabulary_
    assert "don't" in fit(train, tokenizer="whitespace").vectorizer.vocabulary_


@pytest.mark.parametrize("train", [["", " ", "\n", ""]])
def test_texts_without_words_give_none(train):
    assert fit(train) is None


def test_three_classes_and_texts_without_known_words():
    train = (["red", "green", "blue", "red red"], np.array([0, 1, 2, 0]))
    fitted = fit_baseline(train, (["red", "blue"], np.array([0, 2])))
    assert fitted is not None
    assert fitted.predict(["green", "blue", "red"]).tolist() == [1, 2, 0]
    assert fitted.predict(["", "unseen"]).shape == (2,)
