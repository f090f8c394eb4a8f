"""The baseline of a training report predicts what scikit-learn's TF-IDF and LinearSVC predict.

With the blocks of features and the C that dev chose for the baseline. The solvers differ, which turns a
prediction only where two labels score nearly alike; on dev that may make another C the best by a text.
"""

import csv
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import hstack
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.svm import LinearSVC

from headwise.core.tokenizer import get_tokenizer
from headwise.linear.baselines import fit_baseline

HELPDESK = Path(__file__).parents[2] / "src" / "headwise" / "data" / "samples" / "helpdesk.tsv"


def helpdesk():
    with HELPDESK.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    names = sorted({row["intent"] for row in rows})
    return [row["text"] for row in rows], np.array([names.index(row["intent"]) for row in rows])


def drawn(texts, classes, words, common=1.0):
    """Texts of made-up words, some of which are six times as frequent in texts of a label; each label is
    `common` times as frequent as the one before."""
    random = np.random.default_rng(0)
    letters = list("abcdefghijklmnopqrstuvwxyz")
    spelled = np.array(["".join(random.choice(letters, random.integers(3, 9))) for _ in range(400)])
    rates = common ** np.arange(classes)
    targets = random.choice(classes, texts, p=rates / rates.sum())
    chances = np.tile(np.arange(1, 401) ** -0.8, (classes, 1))
    for row in chances:
        row[random.choice(400, 30, replace=False)] *= 6
    chances /= chances.sum(axis=1, keepdims=True)
    lengths = np.maximum(1, random.poisson(words, texts))
    pairs = zip(targets, lengths, strict=True)
    return [" ".join(random.choice(spelled, n, p=chances[label])) for label, n in pairs], targets


SETS = {
    "the help desk": helpdesk,
    "two labels": lambda: drawn(900, 2, 20),
    "six labels": lambda: drawn(1200, 6, 15),
    "rare labels": lambda: drawn(1200, 4, 15, common=0.35),
    "short texts": lambda: drawn(1200, 3, 3),
}


def sklearn_predictions(texts, targets, test, blocks, strength):
    """Labels of the test texts by scikit-learn alone, of words or of words and characters."""
    vectorizers = [
        TfidfVectorizer(
            tokenizer=get_tokenizer("penn").words, token_pattern=None, ngram_range=(1, 2), sublinear_tf=True
        ),
        TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True),
    ][:blocks]
    features = hstack([vectorizer.fit_transform(texts) for vectorizer in vectorizers]).tocsr()
    coefficients = LinearSVC(C=strength, random_state=0).fit(features, targets)
    return coefficients.predict(hstack([vectorizer.transform(test) for vectorizer in vectorizers]).tocsr())


@pytest.mark.parametrize("refit", [False, True])
@pytest.mark.parametrize("name", SETS)
def test_the_baseline_predicts_what_sklearn_predicts(name, refit):
    texts, targets = SETS[name]()
    order = np.random.default_rng(1).permutation(len(texts))
    texts, targets = [texts[n] for n in order], targets[order]
    first, second = int(0.6 * len(texts)), int(0.75 * len(texts))
    train, dev = (texts[:first], targets[:first]), (texts[first:second], targets[first:second])
    test, truth = texts[second:], targets[second:]
    fitted = fit_baseline(train, dev, refit=refit)
    assert fitted is not None
    learnt = ([*train[0], *dev[0]], np.concatenate([train[1], dev[1]])) if refit else train
    ours = fitted.predict(test)
    theirs = sklearn_predictions(*learnt, test, len(fitted.blocks), fitted.strength)
    assert np.mean(ours == theirs) >= 0.99
    assert abs(np.mean(ours == truth) - np.mean(theirs == truth)) < 0.01
