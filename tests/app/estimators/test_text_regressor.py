"""TextRegressor on texts whose number is how often a word stands in them."""

import random
import warnings
from datetime import date

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import check_estimator

from headwise import HeadwiseError, TextRegressor
from headwise.data.items.examples import Example
from headwise.training.text_objectives import NumberObjective


def texts(count: int, seed: int = 0) -> tuple[list[str], np.ndarray]:
    chance = random.Random(seed)
    stars = [chance.randrange(5) for _ in range(count)]
    X = [
        " ".join(chance.sample(["star"] * n + ["word"] * (4 - n), 4)) + f" {chance.random():.4f}"
        for n in stars
    ]
    return X, np.array(stars) * 10.0 + 100


@pytest.fixture(scope="module")
def fitted(tiny) -> TextRegressor:
    return TextRegressor(recipe=tiny, epochs=12).fit(*texts(200))


def test_learns(fitted):
    X, y = texts(50, seed=1)
    assert fitted.score(X, y) > 0.8  # R squared
    assert fitted.predict(X).dtype == np.float64
    assert fitted.predict(X).shape == (50,)
    assert fitted.predict([]).shape == (0,)


def test_folder(fitted, tmp_path):
    X, _ = texts(10, seed=1)
    fitted.save(tmp_path / "model")
    np.testing.assert_array_equal(TextRegressor.load(tmp_path / "model").predict(X), fitted.predict(X))


def test_in_cross_validation_and_the_general_checks(tiny):
    X, y = texts(60)
    assert np.isfinite(cross_val_score(TextRegressor(recipe=tiny, epochs=1), X, y, cv=2)).all()
    with warnings.catch_warnings(record=True):  # it says that most checks need numbers
        warnings.simplefilter("always")
        check_estimator(TextRegressor(recipe=tiny, epochs=1))


@pytest.mark.parametrize(
    ("X", "y", "error", "message"),
    [
        ("one", [1.0], TypeError, "X is one text"),
        (["one"], [1.0, 2.0], ValueError, "inconsistent numbers of samples"),
        (["one", "two"], [1.0, 1.0], ValueError, "only one value"),
        (["one", "two"], [1.0, np.nan], ValueError, r"y contains NaN: y\[1\] is nan"),
        (["one", "two"], [1.0, 2.0], HeadwiseError, "HW141"),
        (["one", "two"], [1.0, -2e100], ValueError, r"y\[1\] is -2e\+100; expected numbers up to 1e\+100"),
        (
            ["one", "two"],
            [date(2020, 1, 1), 2.0],
            TypeError,
            r"y\[0\] is datetime.date\(.*; expected a number",
        ),
        (
            ["one", "two"],
            np.array([1, 2], "m8[s]"),
            TypeError,
            r"of the type timedelta64\[s\]; give them as n",
        ),
    ],
)
def test_what_cannot_be_fitted(X, y, error, message, tiny):
    with pytest.raises(error, match=message):
        TextRegressor(recipe=tiny).fit(X, y)


def test_given_dev(tiny):
    regressor = TextRegressor(recipe=tiny, epochs=1).fit(*texts(20), dev=texts(7, seed=2))
    assert regressor._info["data"]["dev"]["texts"] == 7


def test_weights_reach_the_loss(fitted):
    X, y = texts(6, seed=2)
    own = [Example(text, str(number)) for text, number in zip(X, y, strict=True)]
    model, twice = fitted.model_, np.array([2, 1, 1, 1, 1, 1], np.float32)
    plain = NumberObjective(model, (own, y), (own, y))
    weighted = NumberObjective(model, (own, y), (own, y), twice)
    expected = plain.loss(range(6)) + plain.loss([0])
    np.testing.assert_allclose(weighted.loss(range(6)).item(), expected.item(), rtol=1e-5)
    with pytest.raises(ValueError, match="sample_weight"):
        TextRegressor().fit(X, y, -y)
