"""PairClassifier on pairs that are the same word or not."""

import random

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

from headwise import HeadwiseError, PairClassifier, PairRegressor

WORDS = ["sun", "rain", "snow", "wind"]


def pairs(count: int, seed: int = 0) -> tuple[list[tuple[str, str]], list[str]]:
    chance, X, y = random.Random(seed), [], []
    for number in range(count):
        first, second = chance.choice(WORDS), chance.choice(WORDS)
        second = first if number % 2 else second
        X.append((f"{first} {number}", f"the {second}"))
        y.append("same" if first == second else "other")
    return X, y


@pytest.fixture(scope="module")
def fitted(tiny) -> PairClassifier:
    return PairClassifier(recipe=tiny, epochs=8).fit(*pairs(200))


def test_learns(fitted):
    X, y = pairs(60, seed=1)
    assert fitted.score(X, y) > 0.8
    found = fitted.predict_proba(X)
    assert fitted.classes_.tolist() == ["other", "same"]
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert (fitted.classes_[found.argmax(axis=1)] == fitted.predict(X)).all()
    np.testing.assert_array_equal(fitted.predict_proba(np.array(X)), found)


def test_folder(fitted, tmp_path):
    X, _ = pairs(10, seed=1)
    fitted.save(tmp_path / "model")
    np.testing.assert_array_equal(
        PairClassifier.load(tmp_path / "model").predict_proba(X), fitted.predict_proba(X)
    )


def test_scores(tiny, tmp_path):
    X, y = pairs(200)
    regressor = PairRegressor(recipe=tiny, epochs=8).fit(X, [float(label == "same") for label in y])
    X, y = pairs(60, seed=1)
    assert regressor.score(X, [float(label == "same") for label in y]) > 0
    regressor.save(tmp_path / "model")
    np.testing.assert_array_equal(PairRegressor.load(tmp_path / "model").predict(X), regressor.predict(X))
    with pytest.raises(TypeError, match=r"X\[0\] is \('sun', None\); expected two texts"):
        regressor.predict([("sun", None)])


class Frame:
    """As much of a pandas DataFrame as is used: iterating over one gives the names of its columns."""

    def __init__(self, rows, names=("question", "answer")):
        self.rows, self.columns = rows, names

    def __iter__(self):
        return iter(self.columns)

    def itertuples(self, index=True, name="Pandas"):
        assert not index
        assert name is None
        return iter(self.rows)


class PolarsFrame:
    """As much of a Polars DataFrame as is used: iterating over one gives its columns."""

    def __init__(self, rows, names=("question", "answer")):
        self.rows, self.columns = rows, names

    def __iter__(self):
        return zip(*self.rows, strict=True)

    def iter_rows(self):
        return iter(self.rows)


def test_two_rows_of_polars_are_not_its_two_columns(fitted, tiny):
    X, y = pairs(60)
    found = fitted.predict_proba(PolarsFrame(X[:2]))
    np.testing.assert_array_equal(found, fitted.predict_proba(X[:2]))
    own = PairClassifier(recipe=tiny, epochs=1).fit(PolarsFrame(X), y)
    assert own.feature_names_in_.tolist() == ["question", "answer"]
    with pytest.raises(ValueError, match="the columns 'answer' and 'question'"):
        own.predict(PolarsFrame(X, ("answer", "question")))


def test_data_frame_and_cross_validation(fitted, tiny):
    X, y = pairs(60)
    np.testing.assert_array_equal(fitted.predict(Frame(X)), fitted.predict(X))
    scores = cross_val_score(PairClassifier(recipe=tiny, epochs=1), X, y, cv=2)
    assert scores.shape == (2,)
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("estimator", [PairClassifier, PairRegressor])
def test_columns_the_other_way_round_are_no_pairs_of_the_training(tiny, tmp_path, estimator):
    """Which text is the first makes a difference, and a table says which it is."""
    X, _ = pairs(60)
    y, turned = [0, 1] * 30, Frame([row[::-1] for row in X], ("answer", "question"))
    fitted = estimator(recipe=tiny, epochs=1).fit(Frame(X), y)
    assert fitted.feature_names_in_.tolist() == ["question", "answer"]
    fitted.save(tmp_path / "model")
    for own in (fitted, estimator.load(tmp_path / "model")):
        with pytest.raises(ValueError, match=r"give X\[\['question', 'answer'\]\]"):
            own.predict(turned)
        for same in (Frame(X), Frame(X, ("q", "a")), Frame(X, (0, 1))):
            np.testing.assert_array_equal(own.predict(same), own.predict(X))
    with pytest.raises(ValueError, match="the columns 'answer' and 'question'"):
        estimator(recipe=tiny, epochs=1).fit(Frame(X), y, dev=(turned, y))
    assert fitted.fit(turned, y).feature_names_in_.tolist() == ["answer", "question"]
    assert not hasattr(fitted.fit(X, y), "feature_names_in_")


@pytest.mark.parametrize(
    ("X", "y", "error", "message"),
    [
        ("one", ["a"], TypeError, "X is one text"),
        ([("one",)], ["a"], TypeError, r"X\[0\] is \('one',\); expected two texts"),
        ([("one", 2)], ["a"], TypeError, r"X\[0\]"),
        (["ab"], ["a"], TypeError, r"X\[0\] is 'ab'; expected two texts"),
        ([("one", "two")], ["a", "b"], ValueError, "inconsistent numbers of samples"),
        ([("one", "two")] * 2, ["a", "a"], ValueError, "only one class"),
        ([("one", "two")] * 2, ["a", "b"], HeadwiseError, "HW141"),
    ],
)
def test_what_cannot_be_fitted(X, y, error, message, tiny):
    with pytest.raises(error, match=message):
        PairClassifier(recipe=tiny).fit(X, y)


def test_given_dev(tiny):
    X, y = pairs(20)
    news = [(f"new {first}", second) for first, second in pairs(7, seed=2)[0]]
    classifier = PairClassifier(recipe=tiny, epochs=1).fit(X, y, dev=(news, pairs(7, seed=2)[1]))
    assert classifier._info["data"]["dev"]["texts"] == 7
    with pytest.raises(ValueError, match=r"labels of dev that y does not have: \['strange'\]"):
        PairClassifier(recipe=tiny).fit(X, y, dev=(X[:1], ["strange"]))


def test_tables_and_lists_of_arrow(fitted, tiny):
    arrow = pytest.importorskip("pyarrow")
    X, y = pairs(20, seed=1)
    table = arrow.table(dict(zip(("first", "second"), zip(*X, strict=True), strict=True)))
    wanted = fitted.predict_proba(X)
    for form in (table, arrow.array([list(pair) for pair in X])):
        np.testing.assert_array_equal(fitted.predict_proba(form), wanted)
    again = PairClassifier(recipe=tiny, epochs=1).fit(table, y)
    assert again.feature_names_in_.tolist() == ["first", "second"]
    with pytest.raises(ValueError, match="columns 'second' and 'first', in training they were"):
        again.predict(table.select(["second", "first"]))
