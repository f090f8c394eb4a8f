"""Labels as the columns of pandas bring them, and what is no label."""

from datetime import date
from decimal import Decimal
from enum import Enum

import numpy as np
import pytest

from headwise import TextClassifier
from headwise.core.errors import ConfigError

Y = ["good", "bad", "odd"] * 20
X = [f"{label} {number}" for number, label in enumerate(Y)]


@pytest.fixture
def unfitted(tiny) -> TextClassifier:
    return TextClassifier(recipe=tiny, epochs=2)


class Nullable:
    """As much of a pandas Series of a type of its own as is used."""

    dtype = "Int64"

    def __init__(self, values):
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self):
        return iter(self.values)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype or object)

    def to_numpy(self):
        return np.array(self.values, dtype=object)

    def tolist(self):
        return list(self.values)


class Polars(Nullable):
    """Likewise of Polars, whose Series has no `tolist`."""

    tolist = property()


@pytest.mark.parametrize("labels", [[3, 11], [False, True], ["3", "b"]])
def test_types_of_polars(labels, unfitted):
    y = Polars([labels[label == "good"] for label in Y])
    fitted = unfitted.fit(Polars(X), y)
    assert fitted.classes_.tolist() == labels
    assert fitted.score(Polars(X), y) == fitted.score(X, y.values)
    with pytest.raises(ValueError, match=r"y\[3\] is None"):
        unfitted.fit(X, Polars([None if place == 3 else labels[0] for place in range(len(X))]))


@pytest.mark.parametrize("labels", [[3, 11], [False, True], ["3", "b"]])
def test_types_of_pandas(labels, unfitted, tmp_path):
    fitted = unfitted.fit(X, Nullable([labels[label == "good"] for label in Y]))
    fitted.save(tmp_path / "m")
    for own in (fitted, TextClassifier.load(tmp_path / "m")):
        assert own.classes_.tolist() == labels
        assert set(own.predict(X).tolist()) <= set(labels)
        assert type(own.predict(X).tolist()[0]) is type(labels[0])
    with pytest.raises(ValueError, match=r"y\[3\] is None"):
        unfitted.fit(X, Nullable([None if place == 3 else labels[0] for place in range(len(X))]))


class Table(Nullable):
    """Likewise of a DataFrame of one column, of pandas or Polars, which has no `ndim`."""

    tolist = dtype = None
    shape = (len(X), 1)

    def __array__(self, dtype=None, copy=None):
        return self.to_numpy().astype(dtype or object)

    def to_numpy(self):
        return np.array(self.values, dtype=object)[:, None]


@pytest.mark.parametrize("labels", [[3, 11], [False, True], ["3", "b"]])
def test_a_table_of_one_column_is_one_of_labels(labels, unfitted):
    y = [labels[label == "good"] for label in Y]
    fitted = unfitted.fit(X, Table(y))
    assert fitted.classes_.tolist() == labels
    assert fitted.score(X, Table(y)) == fitted.score(X, y)
    with pytest.raises(ValueError, match=r"y\[0\] is None"):
        unfitted.fit(X, Table([None, *y[1:]]))


class Kind(Enum):
    GOOD = 1
    BAD = 2


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ({"good"}, r"y\[3\] is \{'good'\}; expected one label \(MultiLabelClassifier takes sets"),
        (["good", "odd"], r"y\[3\] is \['good', 'odd'\]; expected one label"),
        (("good", "odd"), r"y\[3\] is \('good', 'odd'\); expected one label"),
        ({"good": True}, r"y\[3\] is \{'good': True\}; expected one label"),
        (Kind.GOOD, r"y\[3\] is <Kind.GOOD: 1>; expected a text or a number, such as its name"),
    ],
)
def test_what_is_no_label_is_told(unfitted, label, message):
    y = [*Y[:3], label, *Y[4:]]
    with pytest.raises(TypeError, match=message):
        unfitted.fit(X, y)
    objects = np.empty(len(y), dtype=object)
    objects[:] = y
    with pytest.raises(TypeError, match=message):
        unfitted.fit(X, objects)


@pytest.mark.parametrize("label", ["", " "])
def test_empty_labels_are_an_error_as_in_files(unfitted, label):
    with pytest.raises(ValueError, match=r"y\[3\] is '.*', an empty label; leave such texts out"):
        unfitted.fit(X, [*Y[:3], label, *Y[4:]])


def test_lists_of_one_label_are_a_column(unfitted):
    assert unfitted.fit(X, [[label] for label in Y]).classes_.tolist() == ["bad", "good", "odd"]


def test_tuples_are_neither_labels_nor_probabilities(unfitted):
    with pytest.raises(
        TypeError, match=r"y\[0\] is \('good', 1\); expected one label, or the probabilities"
    ):
        unfitted.fit(X, [(label, 1) for label in Y])


class TwoOfAName:
    """As much of a pandas DataFrame with two columns of one name as is used."""

    columns = ("text", "text")

    def __getitem__(self, name):
        return self


def test_two_columns_of_one_name_are_told(tiny):
    with pytest.raises(ConfigError, match=r"HW112.*X has 2 columns 'text'; rename all but one"):
        TextClassifier(recipe=tiny, text_column="text").fit(TwoOfAName(), Y)


def test_a_missing_text_is_told(unfitted):
    with pytest.raises(TypeError, match=r"X\[1\] is None; expected a text; write '' where there is none"):
        unfitted.fit(["a b", None], ["x", "y"])


@pytest.mark.parametrize(
    ("label", "message"),
    [
        (Decimal(3), r"y has the label Decimal\('3'\) of the type Decimal; give labels as texts"),
        (date(2020, 1, 3), r"the label datetime.date\(2020, 1, 3\) of the type date; give labels as texts"),
        (2**70, "which needs more than 64 bits; give labels as texts"),
    ],
)
def test_labels_of_other_types_are_named(unfitted, label, message):
    with pytest.raises(TypeError, match=message):
        unfitted.fit(X, [label] * len(X))
