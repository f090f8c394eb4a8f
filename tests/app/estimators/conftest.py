"""Settings so small that fitting takes a second, and every estimator with data for it."""

import random
from typing import NamedTuple

import numpy as np
import pytest
from sklearn.base import clone

from headwise import (
    MultiLabelClassifier,
    PairClassifier,
    PairRegressor,
    TextClassifier,
    TextRegressor,
    TextTagger,
)

TINY = {
    "encoder": {"layers": 1, "heads": 2, "head_size": 4, "width": 8},
    "words": {"vector_size": 8},
    "base": {"name": "none"},  # with one, three more are trained: see test_classifier
    "train": {"refit": False},  # which trains once more, as where a test has a `train` of its own
}


@pytest.fixture(scope="session")
def tiny() -> dict:
    return TINY


@pytest.fixture(autouse=True)
def _fits_once(fits_once):
    """For all estimators."""


COUNT = 40
CHANCE = random.Random(0)
SIDES = [number % 2 for number in range(COUNT)]
TEXTS = [" ".join([("bad", "good")[side], *CHANCE.choices("abcdefgh", k=4)]) for side in SIDES]
PAIRS = [(text, "good") for text in TEXTS]


class Row(NamedTuple):
    """An estimator and data for it.

    Attributes:
        X: What it is fitted on.
        y: The answers.
        methods: What needs a fitted model; `score` takes the answers too.
    """

    kind: type
    X: list
    y: list
    methods: tuple[str, ...]


ROWS = {
    "classify": Row(
        TextClassifier,
        TEXTS,
        [("no", "yes")[side] for side in SIDES],
        ("predict", "predict_proba", "score"),
    ),
    "multi-label": Row(
        MultiLabelClassifier,
        TEXTS,
        [["yes", "all"] if side else ["all"] for side in SIDES],
        ("predict", "predict_proba", "score"),
    ),
    "tag": Row(
        TextTagger,
        [text.split() for text in TEXTS],
        [[("NO", "YES")[side], *["X"] * 4] for side in SIDES],
        ("predict", "score"),
    ),
    "pair": Row(
        PairClassifier,
        PAIRS,
        [("no", "yes")[side] for side in SIDES],
        ("predict", "predict_proba", "score"),
    ),
    "pair-score": Row(PairRegressor, PAIRS, [float(side) for side in SIDES], ("predict", "score")),
    "regress": Row(TextRegressor, TEXTS, [float(side) for side in SIDES], ("predict", "score")),
}


@pytest.fixture(scope="session", params=ROWS)
def row(request) -> Row:
    return ROWS[request.param]


@pytest.fixture(scope="session")
def unfitted(row, tiny):
    return row.kind(recipe=tiny, epochs=2)


@pytest.fixture(scope="session")
def fitted(row, unfitted):
    """Of all tests; none changes it."""
    return clone(unfitted).fit(row.X, row.y)


def plain(found) -> list:
    """Predictions of any estimator as lists."""
    return [np.asarray(own).tolist() for own in found]
