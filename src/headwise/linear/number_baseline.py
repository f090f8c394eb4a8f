"""The linear baseline for regression: TF-IDF of words and word pairs, and ridge regression."""

from collections.abc import Sequence

import numpy as np

from headwise.linear.ridge import fit_ridge
from headwise.linear.tfidf import fit_tfidf
from headwise.linear.together import together

NAME = "TF-IDF + ridge regression"


def fit_number_baseline(
    train: tuple[Sequence[str], np.ndarray],
    dev: tuple[Sequence[str], np.ndarray],
    test: Sequence[str],
    *,
    tokenizer: str = "penn",
    refit: bool = False,
) -> np.ndarray | None:
    """Predict the numbers of test texts by ridge regression, with the penalty chosen on dev.

    Args:
        train: Texts and numbers.
        dev: Texts and numbers.
        test: Texts.
        tokenizer: The tokenizer of the model that it is compared with, so that both read the same words.
        refit: Whether to fit again on training and dev texts together, once dev has chosen.

    Returns:
        The predictions, `[texts]`; None where the training texts have no words at all.
    """
    fitted = fit_tfidf(train[0], tokenizer)
    if fitted is None:
        return None
    vectorizer, features = fitted
    ridge = fit_ridge((features, train[1]), (vectorizer.transform(dev[0]), dev[1]))
    if refit:
        texts, targets = together(train, dev)
        ridge = ridge.fit(vectorizer.fit_transform(texts), targets)
    return np.asarray(ridge.predict(vectorizer.transform(test)))
