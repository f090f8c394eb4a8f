"""Linear rivals of default.py: word and character SVM, NB-SVM, fastText, logistic regression."""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from benchmarks.defaults.default_choice import choose

WORD = r"(?u)\b\w+\b"
STRENGTHS = (0.1, 0.3, 1.0, 3.0)
LOGISTIC_STRENGTHS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
# C of NB-SVM, and how much of a weight is its own and not the weights' mean size: 0.25 in Wang & Manning
# (2012); 1 only weighs the features, which is better with many labels.
NB_SETTINGS = ((0.1, 0.25), (1.0, 0.25), (0.1, 1.0), (1.0, 1.0))
# Rate, epochs and shortest and longest character n-grams; 0 = words and word pairs alone.
FASTTEXT = ((0.5, 25, 0, 0), (0.5, 100, 0, 0), (0.5, 25, 3, 5))
Items = Sequence[Any]  # texts, or pairs of texts


@dataclass(frozen=True)
class Fitted:
    """A rival that has been trained.

    Attributes:
        predict: Label numbers `[texts]`, and probabilities `[texts, labels]` if it has any.
        weights: How many numbers it consists of, besides its words.
        setting: What was chosen.
        dev: Its accuracy in cross-validation; None if nothing was chosen.
    """

    predict: Callable[[Items], tuple[np.ndarray, np.ndarray | None]]
    weights: int
    setting: str
    dev: float | None = None


def sides(transform: Callable[[Sequence[str]], Any], items: Items) -> Any:
    """Features of texts; of pairs those of both texts, what both have, and how they differ."""
    if not items or isinstance(items[0], str):
        return transform(list(items))
    a, b = (transform([pair[side] for pair in items]) for side in (0, 1))
    if isinstance(a, np.ndarray):
        return np.hstack([a, b, a * b, np.abs(a - b)])
    return csr_matrix(hstack([a, b, a.minimum(b), abs(a - b)]))


def every_text(items: Items) -> list[str]:
    """The texts, or all texts of pairs."""
    return [text for item in items for text in ((item,) if isinstance(item, str) else item)]


def svm(items: Items, targets: np.ndarray) -> Fitted:
    """TF-IDF of words and word pairs, and of 2 to 5 characters within words, and a linear SVM."""
    words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=WORD, dtype=np.float32)
    characters = TfidfVectorizer(
        analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True, dtype=np.float32
    )
    for vectorizer in (words, characters):
        vectorizer.fit(every_text(items))

    def read(batch: Items) -> Any:
        parts = [sides(vectorizer.transform, batch) for vectorizer in (words, characters)]
        return csr_matrix(hstack(parts))

    return _machine(read, items, targets, STRENGTHS, lambda c: LinearSVC(C=c, random_state=0))


def _machine(
    read: Callable[[Items], Any],
    items: Items,
    targets: np.ndarray,
    settings: Sequence[Any],
    make: Callable[[Any], Any],
) -> Fitted:
    features = read(items)

    def held_out(setting: Any, train: np.ndarray, held: np.ndarray) -> np.ndarray:
        return make(setting).fit(features[train], targets[train]).predict(features[held])

    setting, dev = choose(settings, held_out, targets)
    estimator = make(setting).fit(features, targets)
    return Fitted(
        lambda batch: (estimator.predict(read(batch)), None), estimator.coef_.size, f"C={setting}", dev
    )


class NaiveBayesSVM:
    """NB-SVM (Wang & Manning 2012): each word weighed by how much oftener it is with a label than without,
    and a linear SVM for each label, its weights drawn towards their mean size."""

    def __init__(self, setting: tuple[float, float]):
        self.strength, self.own_share = setting

    def fit(self, features: Any, targets: np.ndarray) -> "NaiveBayesSVM":
        """Features 0 or 1, sparse `[texts, words]`."""
        self.labels = np.unique(targets)
        rows = [self._one(features, targets == label) for label in self.labels]
        self.coef_ = np.stack([weights for weights, _ in rows], axis=1)
        self.intercept = np.array([bias for _, bias in rows])
        return self

    def _one(self, features: Any, positive: np.ndarray) -> tuple[np.ndarray, float]:
        if positive.all():  # a label alone
            return np.zeros(features.shape[1], np.float32), 0.0
        counts = [1 + np.asarray(features[side].sum(0)).ravel() for side in (positive, ~positive)]
        ratio = np.log(counts[0] / counts[0].sum()) - np.log(counts[1] / counts[1].sum())
        svm = LinearSVC(C=self.strength, random_state=0).fit(features.multiply(ratio).tocsr(), positive)
        weights = svm.coef_[0]
        mixed = self.own_share * weights + (1 - self.own_share) * np.abs(weights).mean()
        return (ratio * mixed).astype(np.float32), float(svm.intercept_[0])

    def predict(self, features: Any) -> np.ndarray:
        """Label numbers, `[texts]`."""
        return self.labels[np.argmax(features @ self.coef_ + self.intercept, axis=1)]


def nb_svm(items: Items, targets: np.ndarray) -> Fitted:
    """NB-SVM on words and word pairs."""
    counter = CountVectorizer(ngram_range=(1, 2), token_pattern=WORD, binary=True, dtype=np.float32)
    counter.fit(every_text(items))
    return _machine(
        lambda batch: sides(counter.transform, batch), items, targets, NB_SETTINGS, NaiveBayesSVM
    )


def logistic(encode: Callable[[Sequence[str]], np.ndarray], items: Items, targets: np.ndarray) -> Fitted:
    """Logistic regression on text vectors, each feature scaled to the same deviation."""
    vectors = sides(encode, items)
    mean, spread = vectors.mean(0), vectors.std(0) + 1e-6
    features = (vectors - mean) / spread

    def make(strength: float) -> LogisticRegression:
        return LogisticRegression(C=strength, max_iter=300, tol=1e-3)

    def held_out(strength: float, train: np.ndarray, held: np.ndarray) -> np.ndarray:
        return make(strength).fit(features[train], targets[train]).predict(features[held])

    strength, dev = choose(LOGISTIC_STRENGTHS, held_out, targets)
    model = make(strength).fit(features, targets)

    def predict(batch: Items) -> tuple[np.ndarray, np.ndarray]:
        chances = model.predict_proba((sides(encode, batch) - mean) / spread)
        return model.classes_[chances.argmax(1)], chances

    return Fitted(predict, model.coef_.size, f"C={strength}", dev)


def fasttext(items: Items, targets: np.ndarray) -> Fitted:
    """fastText (Joulin et al. 2017) with word pairs; epochs and characters chosen as the others' strength.

    Its library is no dependency of headwise: `pip install fasttext-wheel`.
    """
    lines = [" ".join(text.split()).lower() for text in items]

    def held_out(setting: tuple, train: np.ndarray, held: np.ndarray) -> np.ndarray:
        model = _train_fasttext([lines[row] for row in train], targets[train], setting)
        return _ask_fasttext(model, [lines[row] for row in held])[0]

    setting, dev = choose(FASTTEXT, held_out, targets)
    model = _train_fasttext(lines, targets, setting)
    rate, epochs, least, most = setting
    name = f"rate={rate} epochs={epochs} characters={least}-{most}"
    weights = model.get_input_matrix().size + model.get_output_matrix().size

    def predict(texts: Items) -> tuple[np.ndarray, np.ndarray]:
        return _ask_fasttext(model, [" ".join(text.split()).lower() for text in texts])

    return Fitted(predict, weights, name, dev)


def _train_fasttext(lines: Sequence[str], targets: np.ndarray, setting: tuple) -> Any:
    import fasttext as library

    rate, epochs, least, most = setting
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "train.txt"
        file.write_text("".join(f"__label__{n} {line}\n" for n, line in zip(targets, lines, strict=True)))
        flags = {
            "epoch": epochs,
            "minn": least,
            "maxn": most,
            "wordNgrams": 2,
            "dim": 50,
            "bucket": 100_000,
        }
        return library.train_supervised(str(file), lr=rate, thread=1, seed=1, verbose=0, **flags)


def _ask_fasttext(model: Any, lines: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Label numbers and probabilities; those of labels that it was not given are 0."""
    rows = [model.f.predict(line + "\n", -1, 0.0, "strict") for line in lines]
    labels = sorted(int(name.removeprefix("__label__")) for name in model.labels)
    chances = np.zeros((len(lines), len(labels)))
    place = {label: column for column, label in enumerate(labels)}
    for row, predictions in enumerate(rows):
        for chance, name in predictions:
            chances[row, place[int(name.removeprefix("__label__"))]] = chance
    return np.array(labels)[chances.argmax(1)], chances
