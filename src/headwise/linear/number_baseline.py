"""The linear baseline of numbers: TF-IDF of words and word pairs, and ridge regression."""

from collections.abc import Sequence

import numpy as np

from headwise.features.tokenize import get_tokenizer
from headwise.linear.ridge import fit_ridge

NAME = "TF-IDF + ridge regression"


def fit_number_baseline(
    train: tuple[Sequence[str], np.ndarray],
    dev: tuple[Sequence[str], np.ndarray],
    test: Sequence[str],
    *,
    tokenizer: str = "penn",
) -> np.ndarray | None:
    """The numbers of test texts, by ridge regression with its strength chosen on dev.

    Args:
        train: Texts and numbers.
        dev: Likewise.
        test: Texts.
        tokenizer: The model's, so that both read the same words.

    Returns:
        None where the training texts have no words at all.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer  # slow to load, predictions do without

    vectorizer = TfidfVectorizer(
        tokenizer=get_tokenizer(tokenizer).words,
        token_pattern=None,  # type: ignore[arg-type]
        ngram_range=(1, 2),
        sublinear_tf=True,
        dtype=np.float32,  # type: ignore[arg-type]
    )
    try:
        features = vectorizer.fit_transform(train[0])
    except ValueError:  # sklearn's "empty vocabulary"
        return None
    ridge = fit_ridge((features, train[1]), (vectorizer.transform(dev[0]), dev[1]))
    return np.asarray(ridge.predict(vectorizer.transform(test)))
