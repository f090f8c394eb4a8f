"""The linear baseline for text pairs: TF-IDF of shared and differing words, and a linear SVM."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_matrix, hstack

from headwise.data.pair import Pair
from headwise.features.tokenize import get_tokenizer
from headwise.linear.pair_features import OVERLAPS, compared, overlap
from headwise.linear.ridge import fit_ridge
from headwise.linear.svm import fit_svm
from headwise.linear.tfidf import fit_tfidf
from headwise.linear.together import together

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import TfidfVectorizer

NAME = "TF-IDF of shared and differing words + linear SVM"
SCORE_NAME = "TF-IDF of shared and differing words + ridge regression"


@dataclass(frozen=True)
class PairFeatures:
    """The features of text pairs that the baseline reads.

    Five groups of features, with the TF-IDF vectors a and b of the words and word pairs of both texts:
    what both have, `min(a, b)`; what only the first has, `max(a - b, 0)`; what only the second has,
    `max(b - a, 0)`; the second text alone, b; and eight numbers on overlap and length. The second group and
    the third tell a swapped pair from the pair, as entailment needs.
    """

    vectorizer: "TfidfVectorizer"
    tokenizer: str

    def __call__(self, pairs: Sequence[Pair]) -> Any:
        """`[pairs, features]`, sparse."""
        a = self.vectorizer.transform([pair.first for pair in pairs])
        b = self.vectorizer.transform([pair.second for pair in pairs])
        words = get_tokenizer(self.tokenizer).words
        numbers = [overlap(words(pair.first.lower()), words(pair.second.lower())) for pair in pairs]
        dense = np.array(numbers, dtype=np.float32).reshape(-1, OVERLAPS)
        return hstack([compared(a, b), csr_matrix(dense)], format="csr")


@dataclass(frozen=True)
class PairBaseline:
    """A fitted linear model of pairs.

    Attributes:
        features: The feature extractor.
        linear: A linear SVM or a ridge regression.
    """

    features: PairFeatures
    linear: Any

    def predict(self, pairs: Sequence[Pair]) -> np.ndarray:
        """The predicted label indices or scores, `[pairs]`."""
        return np.asarray(self.linear.predict(self.features(pairs)))


def fit_pair_features(pairs: Sequence[Pair], tokenizer: str) -> PairFeatures | None:
    """Fit the vocabulary of the training pairs; None where they have no words at all."""
    fitted = fit_tfidf([text for pair in pairs for text in (pair.first, pair.second)], tokenizer)
    return None if fitted is None else PairFeatures(fitted[0], tokenizer)


def fit_pair_baseline(
    train: tuple[Sequence[Pair], np.ndarray],
    dev: tuple[Sequence[Pair], np.ndarray],
    *,
    tokenizer: str = "penn",
    scores: bool = False,
    refit: bool = False,
) -> PairBaseline | None:
    """Fit a linear SVM (for scores, a ridge regression) on `PairFeatures` of the training pairs, with the
    penalty chosen on dev.

    Args:
        train: Pairs and label indices, or scores.
        dev: The same for dev pairs.
        tokenizer: The tokenizer of the model that it is compared with, so that both read the same words.
        scores: Whether the targets are scores.
        refit: Whether to fit again on training and dev pairs together, once dev has chosen.

    Returns:
        The baseline; None where the pairs have no words at all.
    """
    features = fit_pair_features(train[0], tokenizer)
    if features is None:
        return None
    parts = (features(train[0]), train[1]), (features(dev[0]), dev[1])
    linear = fit_ridge(*parts) if scores else fit_svm(*parts)[0]
    if refit:
        pairs, targets = together(train, dev)
        features = fit_pair_features(pairs, tokenizer) or features
        linear = linear.fit(features(pairs), targets)
    return PairBaseline(features, linear)
