"""The features of columns beside the text, and a linear model that reads them."""

import numpy as np
import pytest

from headwise.data.columns.tabular_columns import TabularColumn, TabularRow
from headwise.linear.attributions import tabular_attributions
from headwise.linear.linear_fit import LinearExamples, fit_linear
from headwise.linear.tabular_features import (
    column_slices,
    encode_rows,
    fit_encodings,
    unseen_values,
)
from headwise.nn.networks.linear_members import TextLinearBuffers

COLUMNS = (TabularColumn("size", "number"), TabularColumn("kind", "category"), TabularColumn("day", "date"))


def rows_of(*rows):
    return [TabularRow(COLUMNS, row) for row in rows]


DAY = 86_400.0
ROWS = rows_of((1.0, "a", 0.0), (3.0, "a", 31 * DAY), (None, "b", 0.0), (2.0, "b", 31 * DAY))


def test_numbers_are_standardized_and_categories_are_indicators():
    encodings = fit_encodings(ROWS)
    size, kind, day = encodings
    assert (size.mean, size.missing, size.width) == (2.0, 0.25, 2)
    assert (kind.values, kind.shares, kind.rare, kind.missing) == (("a", "b"), (0.5, 0.5), 0, 0)
    assert day.values == ("month 1", "month 2", "weekday Sun", "weekday Thu", "year 1970")
    features = encode_rows(encodings, ROWS)
    deviation = np.sqrt(2 / 3)
    np.testing.assert_allclose(features[:, 0], [-1 / deviation, 1 / deviation, 0, 0], rtol=1e-6)
    np.testing.assert_allclose(features[:, 1], [-0.25, -0.25, 0.75, -0.25])
    np.testing.assert_allclose(features[:, 2:4], [[0.5, -0.5]] * 2 + [[-0.5, 0.5]] * 2)
    np.testing.assert_allclose(features.mean(axis=0), 0, atol=1e-6)


def test_an_unseen_category_counts_as_a_rare_one_or_as_an_average_one():
    frequent = rows_of(*[(1.0, name, None) for name in "aabb"])
    rare = rows_of(*[(1.0, name, None) for name in "aabbc"])
    unseen = rows_of((1.0, "z", None))
    assert not encode_rows(fit_encodings(frequent), unseen)[:, :2].any()
    encodings = fit_encodings(rare)
    assert encodings[1].rare == pytest.approx(0.2)
    np.testing.assert_array_equal(encode_rows(encodings, unseen), encode_rows(encodings, rare[-1:]))


def test_unseen_categories_are_counted_by_column():
    class Item:
        def __init__(self, row):
            self.tabular = row

    items = [Item(row) for row in rows_of((9.0, "z", 0.0), (1.0, "a", None), (1.0, None, None))]
    assert unseen_values(fit_encodings(ROWS), items) == {"kind": 1}


def test_constant_and_empty_columns_have_no_features():
    encodings = fit_encodings(rows_of((5.0, "a", None), (5.0, "a", None)))
    assert [encoding.width for encoding in encodings[:2]] == [0, 0]
    empty = fit_encodings(rows_of((None, None, None), (None, None, None)))
    assert np.isfinite(encode_rows(empty, rows_of((1.0, "b", 3.0)))).all()


def test_skewed_numbers_are_read_as_logarithms_too_and_outliers_are_clipped():
    columns = (TabularColumn("price", "number"),)
    values = [float(10 ** (n / 10)) for n in range(60)]
    rows = [TabularRow(columns, (value,)) for value in values]
    (encoding,) = fit_encodings(rows)
    features = encode_rows([encoding], rows)
    assert encoding.numbers == 2
    assert features.shape == (60, 2)
    far = encode_rows([encoding], [TabularRow(columns, (1e90,))])
    assert np.abs(far).max() <= 5


def made(count, seed=0):
    """Texts of which half of the label is in a column, and half in a word."""
    random = np.random.default_rng(seed)
    sizes, words = random.normal(size=count), random.integers(0, 2, count)
    labels = 2 * words + (sizes > 0)
    rows = [
        TabularRow(COLUMNS, (float(size), str(kind), None))
        for size, kind in zip(sizes, random.integers(0, 3, count), strict=True)
    ]
    fill = [" ".join(f"w{n}" for n in random.integers(0, 50, 6)) for _ in range(count)]
    return (
        [f"{'good' if word else 'bad'} {rest}" for word, rest in zip(words, fill, strict=True)],
        rows,
        labels,
    )


def test_a_linear_model_learns_from_the_columns():
    texts, rows, labels = made(400)
    encodings = fit_encodings(rows)
    features = encode_rows(encodings, rows)
    fitted = fit_linear(LinearExamples(texts, labels, 4, numbers=features))
    new_texts, new_rows, truth = made(200, seed=1)
    new_features = encode_rows(encodings, new_rows)
    alone = fit_linear(LinearExamples(texts, labels, 4)).model.scores(new_texts).argmax(axis=1)
    scores = fitted.model.scores(new_texts, None, new_features)
    assert (scores.argmax(axis=1) == truth).mean() > 0.9 > (alone == truth).mean() + 0.2
    assert fitted.settings.tabular > 0
    assert fitted.model.tabular == features.shape[1]

    stored = TextLinearBuffers.of(fitted.model)
    again = TextLinearBuffers(stored.tables)
    again.load_state_dict(stored.state_dict())
    np.testing.assert_allclose(again(new_texts, None, new_features), scores, atol=0.1)

    output_weights = np.tile(np.array([0.0, 0.0, 1.0, -1.0]), (len(new_texts), 1))
    shares = tabular_attributions(fitted.model, new_features, output_weights)
    without = fitted.model.scores(new_texts, None, np.zeros_like(new_features))
    np.testing.assert_allclose(
        shares.sum(axis=1), ((scores - without) * output_weights).sum(axis=1), atol=1e-4
    )
    size = column_slices(encodings)[0]
    assert np.corrcoef(shares[:, size].sum(axis=1), [row.values[0] for row in new_rows])[0, 1] < -0.99


def test_without_columns_the_model_is_the_same():
    texts, _, labels = made(100)
    first, second = (
        fit_linear(LinearExamples(texts, labels, 4)),
        fit_linear(LinearExamples(texts, labels, 4, numbers=None)),
    )
    np.testing.assert_array_equal(first.model.coefficients.weights, second.model.coefficients.weights)
    assert first.model.tabular == 0
    assert first.settings.tabular == 0
