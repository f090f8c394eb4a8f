"""Random small data: few items, labels of one item, duplicates, empty texts and odd characters.

A fit either names what is wrong with the data, or gives a model whose predictions are sound, independent of
other items and the same after saving.
"""

import random
import warnings

import numpy as np
import pytest
from sklearn.base import clone

from headwise import HeadwiseError, MultiLabelClassifier, PairClassifier, TextClassifier

WORDS = (
    "good",
    "bad",
    "the",
    "a",
    "café",
    "мир",
    "你好",
    "😀",
    "7",
    "3.14",
    "...",
    "NaN",
    "<b>",
    "e\u0301",
)


def drawn_texts(chance: random.Random, count: int) -> list[str]:
    """Texts of 0 to 6 words, a third of them like an earlier one."""
    texts = list[str]()
    for _ in range(count):
        new = " ".join(chance.choices(WORDS, k=chance.randrange(7)))
        texts.append(
            chance.choice(texts) + chance.choice(["", "!", " x"])
            if chance.random() < 0.3 and texts
            else new
        )
    return texts


def drawn_labels(chance: random.Random, count: int) -> np.ndarray:
    """Labels of some type; one of them occurs once."""
    names = chance.choice(
        [["no", "yes", "odd one"], [0, 1, 2], [-3, 10**15, 7], [True, False], [0.0, 1.0, 2.0]]
    )
    labels = chance.choices(names[:-1], k=count)
    labels[chance.randrange(count)] = names[-1]
    return np.array(labels)


def drawn_sets(chance: random.Random, count: int) -> np.ndarray:
    """A matrix of three labels, which no text, some texts or all texts have."""
    shares = chance.choice([[0.0, 0.0, 0.0], [0.0, 0.3, 1.0], [0.5, 0.5, 0.1], [1.0, 1.0, 1.0]])
    return np.array([[int(chance.random() < share) for share in shares] for _ in range(count)])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", [TextClassifier, PairClassifier, MultiLabelClassifier])
def test_a_fit_names_a_problem_or_gives_a_sound_model(kind, seed, tiny, tmp_path):
    chance = random.Random(seed)
    count = chance.choice([5, 8, 13, 21])
    X = drawn_texts(chance, count + 6)
    if kind is PairClassifier:
        X = list(zip(X, drawn_texts(chance, count + 6), strict=True))
    y = (drawn_sets if kind is MultiLabelClassifier else drawn_labels)(chance, count)
    estimator = kind(recipe=tiny, epochs=1, random_state=seed)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of labels that look like numbers
            estimator.fit(X[:count], y)
    except HeadwiseError:
        return
    probabilities = estimator.predict_proba(X)
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    if kind is not MultiLabelClassifier:
        assert estimator.classes_.tolist() == sorted(set(y.tolist()))
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)
        assert (estimator.predict(X) == estimator.classes_[probabilities.argmax(axis=1)]).all()
    elif not y.any():
        assert not estimator.predict(X).any()
    alone = np.concatenate([estimator.predict_proba([item]) for item in X])
    np.testing.assert_allclose(alone, probabilities, atol=1e-5)
    estimator.save(tmp_path / "m")
    assert np.array_equal(kind.load(tmp_path / "m").predict_proba(X), probabilities)
    if seed == 0:
        assert np.array_equal(clone(estimator).fit(X[:count], y).predict_proba(X), probabilities)
