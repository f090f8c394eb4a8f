"""MultiLabelClassifier: lists of labels, indicator matrices, scikit-learn's tools."""

import random

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.model_selection import KFold, cross_val_score
from sklearn.preprocessing import MultiLabelBinarizer

from headwise import MultiLabelClassifier

NAMES = ["rain", "sun", "wind"]


def data(count: int, seed: int = 0):
    chance = random.Random(seed)
    sets = [[name for name in NAMES if chance.random() < 0.4] for _ in range(count)]
    texts = [" ".join([*own, *chance.choices("abcdef", k=4), f"{seed}-{n}"]) for n, own in enumerate(sets)]
    return texts, sets


@pytest.fixture(scope="module")
def fitted(tiny) -> MultiLabelClassifier:
    return MultiLabelClassifier(recipe=tiny, epochs=3).fit(*data(200))


def test_lists_of_labels(fitted):
    X, y = data(50, 1)
    assert fitted.classes_.tolist() == NAMES
    predicted = fitted.predict(X)
    assert fitted.score(X, y) > 0.8
    assert fitted.score(X, y) == np.mean([set(a) == set(b) for a, b in zip(predicted, y, strict=True)])
    given = fitted.predict_proba(X) >= fitted.model_.thresholds
    assert (
        MultiLabelBinarizer(classes=NAMES).fit_transform(predicted).tolist() == given.astype(int).tolist()
    )
    assert fitted.predict([]) == []


def test_indicator_matrices(tiny, tmp_path):
    X, sets = data(120)
    y = MultiLabelBinarizer(classes=NAMES).fit_transform(sets)
    one, other = (MultiLabelClassifier(recipe=tiny, epochs=1).fit(X, own) for own in (y, csr_matrix(y)))
    predicted = one.predict(X)
    assert (predicted.dtype, predicted.shape) == (np.int64, y.shape)
    np.testing.assert_array_equal(predicted, other.predict(X))
    assert one.classes_.tolist() == [0, 1, 2]
    one.save(tmp_path / "m")
    np.testing.assert_array_equal(MultiLabelClassifier.load(tmp_path / "m").predict(X), predicted)
    assert np.isfinite(cross_val_score(MultiLabelClassifier(recipe=tiny, epochs=1), X, y, cv=2)).all()


def test_dev_texts_and_folder(tiny, tmp_path):
    model = MultiLabelClassifier(recipe=tiny, epochs=1).fit(*data(60), dev=data(20, 1))
    model.save(tmp_path / "m")
    assert MultiLabelClassifier.load(tmp_path / "m").predict(data(9, 2)[0]) == model.predict(data(9, 2)[0])
    with pytest.raises(ValueError, match="labels of dev that y does not have"):
        MultiLabelClassifier(recipe=tiny).fit(*data(60), dev=(["x"], [["hail"]]))


def test_lists_of_labels_in_cross_validation(tiny):
    X, y = data(60)
    assert np.isfinite(
        cross_val_score(MultiLabelClassifier(recipe=tiny, epochs=1), X, y, cv=KFold(2))
    ).all()


@pytest.mark.parametrize(
    ("X", "y", "error", "message"),
    [
        ("one", [["a"]], TypeError, "X is one text"),
        (["one", "two"], ["a", "b"], TypeError, "expected a list of labels"),
        (["one", "two"], [["a"], [None]], TypeError, "expected texts$"),
        (["one", "two"], [[0, 1], [1, 0]], TypeError, r"expected texts, or if these are .* np.array\(y\)"),
        (["one"], [["a"], []], ValueError, "inconsistent numbers of samples"),
        (["one", "two"], [[], []], ValueError, "y has no labels"),
        (
            ["one", "two"],
            np.array([[0, 2], [1, 0]]),
            ValueError,
            r"y\[0\] is \[0, 2\]; expected zeros and ones",
        ),
        (["one", "two"], [["a"], ["b", " "]], ValueError, r"y\[1\] has the empty label ' '; leave it out"),
    ],
)
def test_what_cannot_be_fitted(tiny, X, y, error, message):
    with pytest.raises(error, match=message):
        MultiLabelClassifier(recipe=tiny).fit(X, y)


class Frame:
    """As much of a DataFrame as is used, of pandas or Polars, which has no `ndim`."""

    def __init__(self, values, columns):
        self.values, self.columns = np.asarray(values), columns
        self.shape = self.values.shape

    def __array__(self, dtype=None, copy=None):
        return self.values.astype(dtype)


def test_columns_with_names(tiny, tmp_path):
    """Labels are called as the columns of a table are, in its order, and those of another found by name."""
    X, sets = data(120)
    names = ["wind", "rain", "sun"]
    y = MultiLabelBinarizer(classes=names).fit_transform(sets)
    other = Frame(y[:, ::-1], names[::-1])
    news = [f"{text} news" for text in X]
    one = MultiLabelClassifier(recipe=tiny, epochs=3)
    with pytest.warns(UserWarning, match="dev texts are training texts but for a few words"):
        one.fit(X, Frame(y, names), dev=(news, other))
    assert one.classes_.tolist() == names
    assert set(one.model_.labels) == set(names)
    assert (one.predict(X) == y).mean() > 0.9
    assert one.score(X, other) == one.score(X, Frame(y, names)) == one.score(X, y) > 0.8
    chances = one.predict_proba(X)
    assert chances[y == 1].mean() > 0.7 > 0.3 > chances[y == 0].mean()
    one.save(tmp_path / "m")
    again = MultiLabelClassifier.load(tmp_path / "m")
    assert again.classes_.tolist() == names
    np.testing.assert_array_equal(again.predict(X), one.predict(X))
    plain = MultiLabelClassifier(recipe=tiny, epochs=1).fit(X, Frame(y, range(3)))
    assert plain.classes_.tolist() == [0, 1, 2]


def test_columns_of_the_same_name_are_refused(tiny):
    with pytest.raises(ValueError, match=r"y has columns of the same name: \['sun', 'rain', 'sun'\]"):
        MultiLabelClassifier(recipe=tiny).fit(["a", "b"], Frame(np.eye(3)[:2], ["sun", "rain", "sun"]))


def test_a_matrix_has_a_column_for_each_label(tiny):
    X, sets = data(120)
    y = MultiLabelBinarizer(classes=NAMES).fit_transform(sets)
    for width in (1, 2, 5):
        wrong = np.ones((len(X), width), dtype=int)
        with pytest.raises(ValueError, match=f"y has {width} columns; expected 3"):
            MultiLabelClassifier(recipe=tiny, epochs=1).fit(X, y, dev=(X, wrong))
    fitted = MultiLabelClassifier(recipe=tiny, epochs=1).fit(X, y)
    with pytest.raises(ValueError, match="y has 2 columns; expected 3"):
        fitted.score(X, y[:, :2])
    with pytest.raises(TypeError, match="y has no columns; expected a matrix of 3, as in fit"):
        fitted.score(X, sets)  # which column has which name is not known: all would be wrong
    named = MultiLabelClassifier(recipe=tiny, epochs=1).fit(X, Frame(y, NAMES))
    assert named.score(X, Frame(y[:, ::-1], NAMES[::-1])) == named.score(X, sets)
    with pytest.raises(ValueError, match=r"unknown labels, \['fog'\]"):
        named.score(X, Frame(y, ["rain", "sun", "fog"]))
    some = Frame(y[:, :2], NAMES[:2])  # whether a text has the third is not known
    wanted = r"only the columns \['rain', 'sun'\]; expected one for each label, \['rain', 'sun', 'wind'\]"
    with pytest.raises(ValueError, match=wanted):
        named.score(X, some)
    with pytest.raises(ValueError, match=wanted):
        MultiLabelClassifier(recipe=tiny, epochs=1).fit(X, Frame(y, NAMES), dev=(X, some))


def test_missing_cells_of_pandas_are_named(tiny):
    pandas = pytest.importorskip("pandas")
    y = pandas.DataFrame({"a": pandas.array([1, None], dtype="Int64"), "b": [0, 1]})
    with pytest.raises(ValueError, match=r"y\[1\] is \[nan, 1\]; expected zeros and ones"):
        MultiLabelClassifier(recipe=tiny).fit(["one", "two"], y)


def test_labels_are_the_column_names_of_an_arrow_table(tiny):
    arrow = pytest.importorskip("pyarrow")
    X, sets = data(30)
    y = MultiLabelBinarizer(classes=["wind", "rain", "sun"]).fit_transform(sets)
    table = arrow.table({"wind": y[:, 0], "rain": y[:, 1], "sun": y[:, 2]})
    assert MultiLabelClassifier(recipe=tiny, epochs=1).fit(X, table).classes_.tolist() == [
        "wind",
        "rain",
        "sun",
    ]


def test_labels_that_no_text_has_are_not_predicted(tiny):
    X, _ = data(30)
    classifier = MultiLabelClassifier(recipe=tiny, epochs=1).fit(X, np.zeros((30, 2), dtype=int))
    assert not classifier.predict(X).any()


def test_a_score_needs_texts(fitted):
    with pytest.raises(ValueError, match="X has no texts; a score needs one or more"):
        fitted.score([], [])
