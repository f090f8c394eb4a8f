"""The linear baseline that stands beside every model: TF-IDF of words and word pairs, and a linear SVM."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from headwise.features.tokenize import get_tokenizer
from headwise.linear.svm import fit_svm

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.svm import LinearSVC


@dataclass(frozen=True)
class Baseline:
    """A fitted linear classifier.

    Attributes:
        vectorizer: TF-IDF with logarithmic counts over words and neighbouring pairs of words.
        classifier: Linear support vector machine.
        strength: Its C, chosen on dev.
        dev_accuracy: On dev, with that C.
    """

    vectorizer: "TfidfVectorizer"
    classifier: "LinearSVC"
    strength: float
    dev_accuracy: float

    def predict(self, texts: Sequence[str]) -> np.ndarray:
        """Label numbers, `[texts]`."""
        return np.asarray(self.classifier.predict(self.vectorizer.transform(texts)))


def fit_baseline(
    train: tuple[Sequence[str], np.ndarray],
    dev: tuple[Sequence[str], np.ndarray],
    *,
    tokenizer: str = "penn",
) -> Baseline | None:
    """TF-IDF (words and word pairs) + linear SVM on the training texts, its C chosen on dev.

    Args:
        train: Texts and label numbers.
        dev: Likewise.
        tokenizer: The model's, so that both read the same words.

    Returns:
        None where the texts have no words at all.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer  # slow to load, predictions do without

    words = get_tokenizer(tokenizer).words
    vectorizer = TfidfVectorizer(
        tokenizer=words,
        token_pattern=None,  # type: ignore[arg-type]
        ngram_range=(1, 2),
        sublinear_tf=True,
        dtype=np.float32,  # type: ignore[arg-type]
    )
    try:
        features = vectorizer.fit_transform(train[0])
    except ValueError:  # sklearn's "empty vocabulary"
        return None
    dev_features = vectorizer.transform(dev[0])
    classifier, accuracy = fit_svm((features, train[1]), (dev_features, dev[1]))
    return Baseline(vectorizer, classifier, classifier.C, accuracy)
