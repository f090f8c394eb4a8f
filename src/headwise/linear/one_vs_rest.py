"""Multi-label linear classifiers: a one-vs-rest linear SVM for each label."""

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
"""Maximum number of weights over all labels. With very many labels, the rarest features are dropped."""

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
    """Fit a linear SVM for each label. C is the first of `STRENGTHS` with the best micro F1 on dev, at the
    threshold that is best there; it is returned too. Labels that all training texts have, or none, get the
    score 1 or -1.

    Args:
        train: Features `[texts, features]` (sparse) and multi-hot labels `[texts, labels]`.
        dev: The same for dev texts.
    """

    def on_dev(candidate: tuple[OneVsRest, float]) -> float:
        return best_threshold(candidate[0].scores(dev[0]).ravel(), dev[1].ravel())[1]

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
    """A fitted multi-label baseline: TF-IDF of words and word pairs, a linear SVM per label, and thresholds
    tuned on dev.

    Attributes:
        vectorizer: TF-IDF with logarithmic counts.
        linear: The linear SVMs.
        thresholds: The score from which on each label is predicted, `[labels]`.
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
    """Fit the linear baseline that multi-label models are compared with.

    Args:
        train: Texts and multi-hot labels.
        dev: The same for dev texts.
        tokenizer: The tokenizer of the model that it is compared with, so that both read the same words.
        min_texts: See `headwise.scores.thresholds.ThresholdConfig`.
        refit: Whether to fit again on training and dev texts together, once dev has chosen C and
            thresholds.

    Returns:
        The baseline; None where the texts have no words at all.
    """
    fitted = fit_tfidf(train[0], tokenizer, MOST_WEIGHTS // train[1].shape[1])
    if fitted is None:
        return None
    vectorizer, features = fitted
    dev_features = vectorizer.transform(dev[0])
    linear, strength = fit_one_vs_rest((features, train[1]), (dev_features, dev[1]))
    margins = linear.scores(dev_features)
    temperature = fit_binary_temperature(margins, dev[1])
    thresholds = temperature * fit_thresholds(margins / temperature, dev[1], min_texts)
    if refit:
        texts, targets = together(train, dev)
        linear = _fit((vectorizer.fit_transform(texts), targets), strength)
    return LabelSetBaseline(vectorizer, linear, thresholds)
