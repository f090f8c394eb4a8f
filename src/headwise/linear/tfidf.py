"""TF-IDF of words and word pairs: the features of most linear baselines."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from headwise.features.tokenize import get_tokenizer

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import TfidfVectorizer


def fit_tfidf(
    texts: Sequence[str], tokenizer: str, max_features: int | None = None
) -> "tuple[TfidfVectorizer, Any] | None":
    """Fit a TF-IDF vectorizer with logarithmic counts; returns it and the features of the texts, `[texts,
    features]` sparse.

    Args:
        texts: The training texts.
        tokenizer: The tokenizer of the model that the baseline is compared with, so that both read the same
            words.
        max_features: Maximum number of features, the most frequent first; by default all.

    Returns:
        The vectorizer and the features; None where the texts have no words at all.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer  # slow to load, predictions do without

    vectorizer = TfidfVectorizer(
        tokenizer=get_tokenizer(tokenizer).words,
        token_pattern=None,  # type: ignore[arg-type]
        ngram_range=(1, 2),
        sublinear_tf=True,
        max_features=max_features,
        dtype=np.float32,  # type: ignore[arg-type]
    )
    try:
        return vectorizer, vectorizer.fit_transform(texts)
    except ValueError:  # sklearn's "empty vocabulary"
        return None
