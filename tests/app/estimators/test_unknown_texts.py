"""Classifiers that say which texts belong to none of their labels."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import get_scorer

from headwise import HeadwiseError, MultiLabelClassifier, TextClassifier

TEXTS = {
    1: ("where is my {} order", "track the parcel with the {}", "my {} has not arrived yet"),
    2: ("give me my money back for the {}", "refund the {} please", "i want to return the {}"),
}
THINGS = ("shoes", "lamp", "phone", "table", "book", "jacket", "camera", "bike", "bag")
X = [text.format(thing) for texts in TEXTS.values() for text in texts for thing in THINGS]
Y = [label for label, texts in TEXTS.items() for _ in texts for _ in THINGS]
STRANGE = [
    *("write a poem about rivers", "who won the football match", "how tall is a giraffe"),
    *("boil the potatoes with salt", "explain the theory of evolution", "sing for the children"),
]
SMALL = {"encoder": {"layers": 1, "heads": 2, "width": 16}}


def recipe(**unknown) -> dict:
    return SMALL | {"unknown": {"detect": True, **unknown}}


@pytest.fixture(scope="module")
def fitted() -> TextClassifier:
    return TextClassifier(epochs=1, recipe=recipe()).fit(X, Y)


def test_strange_texts_are_unknown(fitted):
    assert fitted.predict_unknown(STRANGE).all()
    assert fitted.predict_unknown(X).mean() < 0.1
    assert fitted.novelty_score(STRANGE).min() > np.median(fitted.novelty_score(X))
    np.testing.assert_array_equal(fitted.score_samples(STRANGE), -fitted.novelty_score(STRANGE))
    assert fitted.novelty_score([]).shape == (0,)


def test_a_score_does_not_depend_on_the_company(fitted):
    together = fitted.novelty_score([*STRANGE, *X[:20], "", "zzzzqq 🙂"])
    alone = [fitted.novelty_score([text])[0] for text in [*STRANGE, *X[:20], "", "zzzzqq 🙂"]]
    np.testing.assert_allclose(together, alone, rtol=1e-4, atol=1e-4)
    assert fitted.predict_unknown([""]).all()


def test_a_saved_model_says_the_same(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    loaded = TextClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.novelty_score(STRANGE), fitted.novelty_score(STRANGE))
    assert loaded.model_.novelty == fitted.model_.novelty
    assert loaded._info.metrics.dev["novelty"]["keep"] == 0.95
    assert clone(loaded).recipe["unknown"]["detect"]


def test_scorers_of_scikit_learn_still_read_probabilities(fitted):
    """They prefer a `decision_function`, if there is one."""
    assert get_scorer("roc_auc")(fitted, X, Y) > 0.99


def test_the_share_that_is_kept_sets_the_threshold(fitted):
    half = TextClassifier(epochs=1, recipe=recipe(keep=0.5)).fit(X, Y)
    assert half.model_.novelty.threshold < fitted.model_.novelty.threshold
    assert half.model_.novelty.threshold == pytest.approx(0, abs=0.2)


def test_without_a_detector_there_is_an_error():
    plain = TextClassifier(epochs=1, recipe=SMALL | {"base": {"name": "none"}}).fit(X, Y)
    with pytest.raises(HeadwiseError, match="no novelty detector"):
        plain.predict_unknown(X)


def test_a_label_of_unknown_texts_is_no_class():
    known, strange = np.array(Y), np.full(12, 9)
    taught = TextClassifier(epochs=1, recipe=recipe(label="9"))
    taught.fit([*X, *STRANGE, *STRANGE], [*known, *strange])
    assert taught.classes_.tolist() == [1, 2]
    assert set(taught.predict(STRANGE).tolist()) <= {1, 2}
    assert taught.predict_unknown(STRANGE).all()


def test_a_label_of_unknown_texts_alone_makes_a_detector(tiny):
    y = ["odd" if number % 6 == 0 else label for number, label in enumerate(Y)]
    taught = TextClassifier(epochs=1, recipe=tiny | {"unknown": {"label": "odd"}}).fit(X, map(str, y))
    assert taught.predict_unknown(X).shape == (len(X),)
    with pytest.raises(HeadwiseError, match="no text has the label 'strange' of unknown texts"):
        TextClassifier(epochs=1, recipe=tiny | {"unknown": {"label": "strange"}}).fit(X, Y)


def test_label_sets():
    sets = [("order",) if label == 1 else ("money", "return") for label in Y]
    several = MultiLabelClassifier(epochs=1, recipe=recipe()).fit(X, sets)
    assert several.predict_unknown(STRANGE).mean() > 0.8
    assert several.predict_unknown(X).mean() < 0.2
    assert several.predict(STRANGE[:1])[0] is not None
