"""Warnings on what estimators read."""

import warnings

import pytest

from headwise.app.estimators.estimator_inputs import warn_of_blanks, warn_of_other_order
from headwise.app.estimators.regressors import _number_column


class Index(list):
    """The parts of an index of pandas that are read."""

    def equals(self, other):
        return self == other

    def sort_values(self):
        return Index(sorted(self))


class Column(list):
    """A column of pandas."""

    def __init__(self, values, index):
        super().__init__(values)
        self.index = Index(index)


def test_columns_with_one_index_in_different_orders():
    texts = Column("abc", [2, 0, 1])
    with pytest.warns(UserWarning, match=r"same index in different orders.*y.loc\[X.index\]"):
        warn_of_other_order(texts, Column("xyz", [0, 1, 2]))


@pytest.mark.parametrize(
    "y", [Column("xyz", [2, 0, 1]), Column("xyz", [5, 6, 7]), Column("xy", [0, 1]), ["x", "y", "z"]]
)
def test_other_columns(y):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_other_order(Column("abc", [2, 0, 1]), y)
        warn_of_other_order(["a", "b", "c"], y)


def test_labels_that_differ_in_blanks():
    with pytest.warns(UserWarning, match="differ in white space at their ends only: 'a', 'a '"):
        warn_of_blanks(["a", "a ", "b "])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_blanks(["a", "b ", "A", 1, 2])


@pytest.mark.parametrize(
    ("number", "message"),
    [("3,5", r"y\[1\] is '3,5'; expected a number; write 3.5"), ("x", "'x'; expected")],
)
def test_numbers_that_are_texts(number, message):
    assert _number_column(["1.5", "2"]).tolist() == [1.5, 2.0]
    with pytest.raises(ValueError, match=message):
        _number_column(["1.5", number])


def test_a_warning_names_the_line_that_called_the_estimator(row, tiny):
    with pytest.warns(UserWarning, match="training .* too") as caught:
        row.kind(recipe=tiny, epochs=1).fit(row.X, row.y, dev=(row.X[:6], row.y[:6]))
    assert {warning.filename for warning in caught} == {__file__}
