"""Linear classifiers of label sets: for each label a linear SVM that tells its texts from the rest."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from headwise.linear.svm import STRENGTHS
from headwise.linear.tfidf import fit_tfidf
from headwise.linear.together import together
from headwise.scores.binary import fit_binary_temperature
from headwise.scores.thresholds import Targets, best_threshold, fit_thresholds

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import TfidfVectorizer

MOST_WEIGHTS = 50_000_000
"""Weights of all labels together: with very many labels the rarest features are left out."""

NAME = "TF-IDF + one SVM a label"


@dataclass(frozen=True)
class OneVsRest:
    """A linear score for each label.

    Attributes:
        weights: `[features, labels]`, float32.
        bias: `[labels]`, float32.
    """

    weights: NDArray[np.float32]
    bias: NDArray[np.float32]

    def scores(self, features: Any) -> NDArray[np.float32]:
        """`[texts, features]` (sparse) -> `[texts, labels]`."""
        return np.asarray(features @ self.weights + self.bias, dtype=np.float32)


def fit_one_vs_rest(train: tuple[Any, Targets], dev: tuple[Any, Targets]) -> tuple[OneVsRest, float]:
    """A linear SVM for each label; of `STRENGTHS` the first C with the best micro F1 on dev, with the
    threshold that is best there; and that C. Labels that all training texts have, or none, have the score 1
    or -1.

    Args:
        train: Features `[texts, features]` (sparse) and labels.
        dev: Likewise.
    """

    def on_dev(found: tuple[OneVsRest, float]) -> float:
        return best_threshold(found[0].scores(dev[0]).ravel(), dev[1].ravel())[1]

    return max(((_fit(train, strength), strength) for strength in STRENGTHS), key=on_dev)


def _fit(train: tuple[Any, Targets], strength: float) -> OneVsRest:
    from sklearn.svm import LinearSVC  # slow to load, and predictions do without

    features, targets = train
    weights = np.zeros((features.shape[1], targets.shape[1]), dtype=np.float32)
    bias = np.where(targets.any(0), np.float32(1), np.float32(-1))
    for label in np.flatnonzero(targets.any(0) & ~targets.all(0)):
        machine = LinearSVC(C=strength, random_state=0).fit(features, targets[:, label])
        weights[:, label] = np.asarray(machine.coef_)[0]
        bias[label] = np.asarray(machine.intercept_)[0]
    return OneVsRest(weights, bias.astype(np.float32))


@dataclass(frozen=True)
class LabelSetBaseline:
    """TF-IDF of words and word pairs, a linear SVM for each label, and thresholds tuned on dev.

    Attributes:
        vectorizer: TF-IDF with logarithmic counts.
        linear: A score for each label.
        thresholds: A label is given from this score on, `[labels]`.
    """

    vectorizer: "TfidfVectorizer"
    linear: OneVsRest
    thresholds: NDArray[np.float64]

    def scores(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """`[texts, labels]`."""
        return self.linear.scores(self.vectorizer.transform(texts))


def fit_label_set_baseline(
    train: tuple[Sequence[str], Targets],
    dev: tuple[Sequence[str], Targets],
    *,
    tokenizer: str = "penn",
    min_texts: int = 1,
    refit: bool = False,
) -> LabelSetBaseline | None:
    """The linear baseline that stands beside a model of label sets.

    Args:
        train: Texts and labels.
        dev: Likewise.
        tokenizer: The model's, so that both read the same words.
        min_texts: See `headwise.scores.thresholds.ThresholdConfig`.
        refit: Once dev has chosen, thresholds too, fit again on training and dev texts together.

    Returns:
        None where the texts have no words at all.
    """
    found = fit_tfidf(train[0], tokenizer, MOST_WEIGHTS // train[1].shape[1])
    if found is None:
        return None
    vectorizer, features = found
    dev_features = vectorizer.transform(dev[0])
    linear, strength = fit_one_vs_rest((features, train[1]), (dev_features, dev[1]))
    margins = linear.scores(dev_features)
    temperature = fit_binary_temperature(margins, dev[1])
    thresholds = temperature * fit_thresholds(margins / temperature, dev[1], min_texts)
    if refit:
        texts, targets = together(train, dev)
        linear = _fit((vectorizer.fit_transform(texts), targets), strength)
    return LabelSetBaseline(vectorizer, linear, thresholds)
