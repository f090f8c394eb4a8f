"""Linear classifiers of label sets against scikit-learn's one-vs-rest."""

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from headwise.linear.sklearn_models import SVM_STRENGTHS, fit_multi_label_baseline, fit_one_vs_rest

NAMES = ["sun", "rain", "wind"]


def data(texts: int, seed: int):
    random = np.random.default_rng(seed)
    targets = random.random((texts, 3)) < 0.4
    words = [
        " ".join(
            [*(n for n, present in zip(NAMES, row, strict=True) if present), *random.choice(list("abc"), 4)]
        )
        for row in targets
    ]
    return words, targets


def test_as_scikit_learn(monkeypatch):
    monkeypatch.setattr("headwise.linear.sklearn_models.SVM_STRENGTHS", SVM_STRENGTHS[2:3])
    random = np.random.default_rng(0)
    features, targets = csr_matrix(random.random((60, 8))), random.random((60, 3)) < 0.5
    model, strength = fit_one_vs_rest((features, targets), (features, targets))
    assert strength == SVM_STRENGTHS[2]
    oracle = OneVsRestClassifier(LinearSVC(C=SVM_STRENGTHS[2], random_state=0)).fit(features, targets)
    np.testing.assert_allclose(model.scores(features), oracle.decision_function(features), atol=1e-4)


def test_labels_that_all_have_or_none():
    targets = np.array([[True, False, True], [True, False, False]])
    features = csr_matrix(np.eye(2, dtype=np.float32))
    linear, _ = fit_one_vs_rest((features, targets), (features, targets))
    scores = linear.scores(features)
    np.testing.assert_array_equal(scores[:, :2], [[1, -1], [1, -1]])
    assert scores[0, 2] > scores[1, 2]


def test_the_baseline_learns_words():
    baseline = fit_multi_label_baseline(data(200, 0), data(60, 1))
    assert baseline is not None
    texts, targets = data(60, 2)
    assert ((baseline.scores(texts) >= baseline.thresholds) == targets).all(1).mean() > 0.9
    assert (
        fit_multi_label_baseline((["", ""], np.eye(2, dtype=bool)), (["a"], np.eye(2, dtype=bool)[:1]))
        is None
    )


def test_the_baseline_of_all_texts_knows_words_of_dev():
    train, dev = data(200, 0), data(60, 1)
    snow = ([f"{text} snow" for text in dev[0]], np.roll(dev[1], 1, axis=1))
    last = {
        name: fit_multi_label_baseline(train, snow, refit=again)
        for name, again in (("one", False), ("all", True))
    }
    assert "snow" not in last["one"].vectorizer.vocabulary_
    assert "snow" in last["all"].vectorizer.vocabulary_
    assert len(last["all"].linear.weights) > len(last["one"].linear.weights)
    # The thresholds stay those that dev has chosen.
    np.testing.assert_array_equal(last["all"].thresholds, last["one"].thresholds)
