"""Compiled number formatting writes what Python's `.6g` writes."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.core import native

TIES = [0.1234565, 0.12345650000000001, 1234565e-10, 0.5, 0.999999499999, 0.9999995, 0.99999949999999995]
TIES += [1e-5, 1.5, 123456.5, 999999.5, 9.999995e-5, 0.0001, 9.9999949e-5, 1e-17, 1e-18, 2**-60, 0, 1, -0.0]


def shown(values) -> list[str]:
    return native.number_texts(np.array(values, dtype=np.float64)[:, None], [""])


@settings(max_examples=250, deadline=None)
@given(st.lists(st.floats(0, 1) | st.floats(), max_size=20))
def test_any_number(values):
    assert shown(values) == [f"{value:.6g}" for value in values]


def test_many_probabilities():
    random = np.random.default_rng(0)
    values = np.concatenate(
        [random.random(20_000), np.exp(-40 * random.random(20_000)), TIES, [0, 1, -0.0]]
    )
    values = np.concatenate([values, np.nextafter(values, 0), np.round(values, 6), np.round(values, 7)])
    assert shown(values) == [f"{value:.6g}" for value in values.tolist()]


def test_columns_have_a_text_before_them():
    rows = np.array([[0.25, 1], [np.nan, np.inf]])
    assert native.number_texts(rows, ["\u00e9: ", ", b: "]) == ["\u00e9: 0.25, b: 1", "\u00e9: nan, b: inf"]
    assert native.number_texts(rows[:0], ["", ""]) == []
    with pytest.raises(ValueError, match="one text before"):
        native.number_texts(rows, [""])


CELLS = st.lists(st.text(alphabet='a,"\n\r\u00e9\u4e00 ', max_size=8), min_size=1, max_size=3)


@settings(max_examples=100, deadline=None)
@given(st.lists(CELLS, max_size=5))
def test_records_are_those_of_a_csv_writer(rows):
    numbers = np.linspace(0, 1, 2 * len(rows)).reshape(-1, 2)
    texts = [f"label {place}" for place in range(len(rows))]
    written = native.record_texts(rows, ",", True, texts, numbers, [",", ","], "\n")
    read = [*csv.reader(io.StringIO(written, newline=""))]
    assert read == [
        [*cells, text, *(f"{number:.6g}" for number in row)]
        for cells, text, row in zip(rows, texts, numbers.tolist(), strict=True)
    ]
    quoted = [cell for cells in rows for cell in cells if set(cell) & set(',"\n\r')]
    assert written.count('"') == sum(2 + 2 * cell.count('"') for cell in quoted)


def test_records_with_ready_starts():
    written = native.record_texts([['{"a": "']], "", False, ["b"], np.array([[0.5]]), [", "], "}\n")
    assert written == '{"a": "b, 0.5}\n'
    with pytest.raises(ValueError, match="each row has"):
        native.record_texts([["a"]], ",", True, [], np.ones((1, 1)), [","], "\n")
    with pytest.raises(UnicodeEncodeError):
        native.record_texts([["\ud800"]], ",", True, ["b"], np.ones((1, 1)), [","], "\n")
