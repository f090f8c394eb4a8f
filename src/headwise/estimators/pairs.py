"""PairClassifier, PairRegressor: what holds between two texts, or how much, as scikit-learn estimators."""

import reprlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_consistent_length

from headwise.data.pair import Pair
from headwise.estimators.base import (
    UNORDERED,
    TextEstimator,
    check_listed,
    pair_of,
    plain,
    weights_for,
)
from headwise.estimators.labels import Answered, LabelEstimator, check_labels
from headwise.estimators.regressor import NumberEstimator
from headwise.report.sheet import section

_NAMED = ("first_column", "second_column")


class PairEstimator(TextEstimator):
    """What both share: where X is a table, whose columns have names, they know which text is the first.

    Attributes:
        feature_names_in_: The names of the two columns, where those of the training had any.
    """

    feature_names_in_: np.ndarray

    def _know_columns(self, X: Any) -> None:
        """Remember the names of the columns of X, and nothing of an earlier fit."""
        vars(self).pop("feature_names_in_", None)
        if len(names := _column_names(X)) == 2:
            self.feature_names_in_ = np.array(names, dtype=object)

    def _fit(self, items: Any, dev: Any, labels: Any = (), **training: Any) -> Self:
        if names := self._known():
            training["columns"] = dict(zip(_NAMED, names, strict=True))
        return super()._fit(items, dev, labels, **training)

    def _take(self, model: Any, info: dict[str, Any]) -> None:
        super()._take(model, info)
        names = [section(info["training"], "columns").get(name) for name in _NAMED]
        if all(isinstance(name, str) for name in names):
            self.feature_names_in_ = np.array(names, dtype=object)

    def _known(self) -> list[str]:
        return [*getattr(self, "feature_names_in_", ())]

    def _items(self, X: Any) -> list[Pair]:
        found, known = _column_names(X), self._known()
        if found != known and sorted(found) == sorted(known):
            raise ValueError(
                f"X has the columns {found[0]!r} and {found[1]!r}, in training they were {known[0]!r} and "
                f"{known[1]!r}: which text is the first makes a difference; give X[{known}]"
            )
        return _pairs(X)


class PairClassifier(PairEstimator, LabelEstimator):
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
        self._know_columns(X)
        held = None if dev is None else self._labelled(*pair_of(dev))
        return self._fit_labelled(self._labelled(X, y, sample_weight), held)

    def _labelled(self, X: Any, y: Any, weights: Any = None) -> Answered:
        pairs, targets = self._items(X), check_labels(y)
        check_consistent_length(pairs, targets)
        rows = zip(pairs, targets, weights_for(pairs, weights), strict=True)
        answered = [replace(pair, label=str(label), weight=own) for pair, label, own in rows]
        return answered, np.unique(targets)


class PairRegressor(PairEstimator, NumberEstimator):
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
        self._know_columns(X)
        return self._fit_numbers(self._answered(X, y, sample_weight), dev)


def _pairs(X: Any) -> list[Pair]:
    check_listed(X, "pairs of texts")
    if hasattr(X, "itertuples"):  # pandas
        X = X.itertuples(index=False, name=None)
    rows: list[Any] = list(X.iter_rows() if hasattr(X, "iter_rows") else X)  # Polars
    for place, row in enumerate(rows):
        if (
            isinstance(row, (str, Mapping, *UNORDERED))
            or not hasattr(row, "__len__")
            or len(row) != 2
            or not all(isinstance(text, str) for text in row)
        ):
            raise TypeError(f"X[{place}] is {reprlib.repr(row)}; expected two texts")
    return [Pair(plain(first), plain(second)) for first, second in rows]


def _column_names(X: Any) -> list[str]:
    """The names of the columns of a table; of all else none."""
    names: list[str] = list(getattr(X, "columns", ()))
    return names if all(isinstance(name, str) for name in names) else []
