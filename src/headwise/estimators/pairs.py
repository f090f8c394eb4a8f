"""PairClassifier, PairRegressor: what holds between two texts, or how much, as scikit-learn estimators."""

import reprlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_consistent_length

from headwise.data.pair import Pair
from headwise.estimators.base import UNORDERED, check_listed, pair_of, plain, weights_for
from headwise.estimators.labels import Answered, LabelEstimator, check_labels
from headwise.estimators.regressor import NumberEstimator


class PairClassifier(LabelEstimator):
    """A classifier of text pairs: paraphrase or not, entailment, an answer to a question.

    See `TextEstimator` for its parameters.

    Attributes:
        classes_: The labels, sorted, in the order of the columns of `predict_proba`.
        model_: The fitted `headwise.models.pair_model.PairModel`, whose labels are strings.
        recipe_: The settings that were used, in the sections of a recipe.
        history_: Scores on dev, one dictionary for each epoch.
    """

    TASK: ClassVar[str] = "pair"

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, dev: tuple[Any, Any] | None = None) -> Self:
        """Train on pairs and their labels.

        Args:
            X: Pairs of texts: a list of tuples, or an array or DataFrame with two columns.
            y: Their labels: strings, whole numbers or truth values.
            sample_weight: How much each pair counts, `[pairs]`, 0 or more, also of those split off.
            dev: Pairs and labels that choose the best epoch and calibrate the probabilities. By default a
                share of X (`split.dev` of the recipe, 15 %), with equal first texts on one side.

        Raises:
            HeadwiseError: A setting is wrong, or the pairs are too few to split.
            TypeError, ValueError: X or y are not what they should be.
        """
        held = None if dev is None else _labelled(*pair_of(dev))
        return self._fit_labelled(_labelled(X, y, sample_weight), held)

    def _items(self, X: Any) -> list[Pair]:
        return _pairs(X)


class PairRegressor(NumberEstimator):
    """A model that gives text pairs a score, such as how similar they are; see `TextEstimator` for its
    parameters.

    Attributes:
        model_: The fitted `headwise.models.pair_model.PairScorer`.
        recipe_: The settings that were used, in the sections of a recipe.
        history_: Scores on dev, one dictionary for each epoch.
    """

    TASK: ClassVar[str] = "pair-score"

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, dev: tuple[Any, Any] | None = None) -> Self:
        """Train on pairs and their scores.

        Args:
            X: Pairs of texts, as `PairClassifier` takes them.
            y: Their scores.
            sample_weight: How much each pair counts, `[pairs]`, 0 or more, also of those split off.
            dev: Pairs and scores that choose the best epoch, likewise.

        Raises:
            HeadwiseError: A setting is wrong, or the pairs are too few to split.
            TypeError, ValueError: X or y are not what they should be.
        """
        return self._fit_numbers(self._answered(X, y, sample_weight), dev)

    def _items(self, X: Any) -> list[Pair]:
        return _pairs(X)


def _pairs(X: Any) -> list[Pair]:
    check_listed(X, "pairs of texts")
    rows: list[Any] = list(X.itertuples(index=False, name=None) if hasattr(X, "itertuples") else X)
    for place, row in enumerate(rows):
        if (
            isinstance(row, (str, Mapping, *UNORDERED))
            or not hasattr(row, "__len__")
            or len(row) != 2
            or not all(isinstance(text, str) for text in row)
        ):
            raise TypeError(f"X[{place}] is {reprlib.repr(row)}; expected two texts")
    return [Pair(plain(first), plain(second)) for first, second in rows]


def _labelled(X: Any, y: Any, weights: Any = None) -> Answered:
    pairs, targets = _pairs(X), check_labels(y)
    check_consistent_length(pairs, targets)
    rows = zip(pairs, targets, weights_for(pairs, weights), strict=True)
    return [replace(pair, label=str(label), weight=own) for pair, label, own in rows], np.unique(targets)
