"""Estimators for numbers and for text pairs, as in scikit-learn.

`TextRegressor` predicts a number for each text, `PairRegressor` one for each pair; `RegressionEstimator` is
their base class. `PairClassifier` and `PairRegressor` share the checks of tables with two columns of texts
(`PairEstimator`).
"""

import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from numbers import Real
from os import PathLike
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted

from headwise.app.configuration import Sections
from headwise.app.estimators.base_estimator import EmbeddingMethods, TextEstimator
from headwise.app.estimators.classifiers import ClassWeight, LabelEstimator, LabelledItems, check_labels
from headwise.app.estimators.estimator_inputs import (
    UNORDERED_TYPES,
    Inputs,
    Targets,
    Weights,
    check_is_list,
    check_targets,
    column_names,
    column_values,
    plain_str,
    scoring_weights,
    unpack_dev,
    warn_of_other_order,
    weights_for,
)
from headwise.app.estimators.table_columns import TableEstimator
from headwise.artifacts.model_info import ModelInfo
from headwise.data.items.examples import Example, Pair
from headwise.data.items.numeric_labels import LARGEST_LABEL, parse_number, with_decimal_point
from headwise.data.readers.tabular_cells import is_missing
from headwise.nn.encoders.encoder_configs import EncoderName
from headwise.nn.networks.text_models import PairModel, PairScorer, TextRegressorModel
from headwise.nn.networks.trained_models import ModelType
from headwise.training.callbacks import TrainingCallback

NumberModel = TypeVar("NumberModel", TextRegressorModel, PairScorer)


class RegressionEstimator(EmbeddingMethods, RegressorMixin, TextEstimator[NumberModel]):
    """Base class of the regressors."""

    def predict(self, X: Inputs) -> np.ndarray:
        """The predicted number of each text or pair, float64 `[items]`."""
        check_is_fitted(self, "model_")
        return self.model_.scores(self.model_.encoded(self._items(X)))

    def score(self, X: Inputs, y: Targets, sample_weight: Weights = None) -> float:
        """R² of the predictions, as in scikit-learn."""
        check_is_fitted(self, "model_")
        numbers = _number_column(y)
        return super().score(X, numbers, scoring_weights(numbers.tolist(), sample_weight))

    def _fit_numbers(self, answered: Sequence[Any], dev: tuple[Inputs, Targets] | None) -> Self:
        if len({item.label for item in answered}) < 2:
            raise ValueError("y has only one value; a regressor needs two or more")
        return self._fit(answered, None if dev is None else self._labelled_items(*unpack_dev(dev)))

    def _labelled_items(self, X: Inputs, y: Targets, weights: Weights = None) -> list[Any]:
        items = [Example(item) if isinstance(item, str) else item for item in self._items(X)]
        numbers = _number_column(y)
        check_consistent_length(items, numbers)
        rows = zip(items, numbers, weights_for(items, weights), strict=True)
        return [replace(item, label=repr(float(number)), weight=weight) for item, number, weight in rows]


class TextRegressor(TableEstimator[TextRegressorModel], RegressionEstimator[TextRegressorModel]):
    """A text regressor, for example for ratings; see `TableEstimator` for its parameters.

    Attributes:
        model_: The fitted `headwise.nn.networks.text_models.TextRegressorModel`.
        recipe_: The settings that were used, as the sections of a recipe.
        history_: Dev scores, one dictionary per epoch.
    """

    TASK: ClassVar[str] = "regress"

    def fit(
        self,
        X: Inputs,
        y: Targets,
        sample_weight: Weights = None,
        *,
        dev: tuple[Inputs, Targets] | None = None,
    ) -> Self:
        """Train on texts and their numbers.

        Args:
            X: Texts: a list, an array or a pandas Series of strings; with `text_column` a table.
            y: Their numbers.
            sample_weight: How much each text counts, `[texts]`, 0 or more; also on dev.
            dev: Texts and numbers that select the best epoch. By default a share of X (`split.dev` of the
                recipe, 15 %); equal texts stay on one side of the split.

        Raises:
            HeadwiseError: A setting is invalid, or the texts are too few to split.
            TypeError, ValueError: X or y has a wrong type or value.
        """
        warn_of_other_order(X, y)
        self._learn_columns(X)
        return self._fit_numbers(self._labelled_items(X, y, sample_weight), dev)


def _number_column(y: Targets) -> np.ndarray:
    """y as a column of numbers up to `LARGEST_LABEL`, float64 `[items]`.

    Raises:
        TypeError, ValueError: It is not such a column.
    """
    column = column_or_1d(check_targets(y, "numbers"))
    if column.dtype.kind in "mM":
        raise TypeError(f"y has values of the type {column.dtype}; give them as numbers")
    for place, number in enumerate(column.tolist()):
        if not (isinstance(number, str | Real | Decimal) or is_missing(number)):
            raise TypeError(f"y[{place}] is {number!r:.80}; expected a number")
        if is_missing(number):
            raise ValueError(
                f"y contains NaN: y[{place}] is {number!r:.80}; leave out the items without one"
            )
        if isinstance(number, str) and parse_number(number) is None:
            hint = "; write 3.5 for 3,5" if with_decimal_point(number) else ""
            raise ValueError(f"y[{place}] is {number!r:.80}; expected a number{hint}")
    numbers = check_array(column, ensure_2d=False, dtype="float64", input_name="y")
    if (too_large := np.abs(numbers) > LARGEST_LABEL).any():
        place = int(too_large.argmax())
        raise ValueError(f"y[{place}] is {numbers[place]:g}; expected numbers up to {LARGEST_LABEL:g}")
    return numbers


_NAMED = ("first_column", "second_column")


class PairEstimator(TextEstimator[ModelType]):
    """Base class of the pair estimators. It stores the column names of a table X, to check later that the
    two texts have the same order.

    Attributes:
        feature_names_in_: The names of the two columns in `fit`; missing if they had none.
    """

    feature_names_in_: np.ndarray

    def _store_columns(self, X: Inputs) -> None:
        """Store the column names of X and forget those of a previous fit."""
        self.__dict__.pop("feature_names_in_", None)
        if len(names := _column_names(X)) == 2:
            self.feature_names_in_ = np.array(names, dtype=object)

    def _fit(self, *arguments: Any, **training: Any) -> Self:
        if names := self._trained_columns():
            training["columns"] = dict(zip(_NAMED, names, strict=True))
        return super()._fit(*arguments, **training)

    def _take(self, model: ModelType, info: ModelInfo) -> None:
        super()._take(model, info)
        names = [info.training.columns.get(name) for name in _NAMED]
        if all(isinstance(name, str) for name in names):
            self.feature_names_in_ = np.array(names, dtype=object)

    def _trained_columns(self) -> list[str]:
        return [*getattr(self, "feature_names_in_", ())]

    def _items(self, X: Inputs) -> list[Pair]:
        columns, trained_columns = _column_names(X), self._trained_columns()
        if columns != trained_columns and sorted(columns) == sorted(trained_columns):
            raise ValueError(
                f"X has the columns {columns[0]!r} and {columns[1]!r}, in training they were "
                f"{trained_columns[0]!r} and {trained_columns[1]!r}: which text is the first makes a "
                f"difference; give X[{trained_columns}]"
            )
        return _pairs_of_rows(X)


class PairClassifier(PairEstimator[PairModel], LabelEstimator[PairModel]):
    """A classifier of text pairs, for paraphrase detection, entailment or answer selection.

    See `TextEstimator` for its parameters.

    Args:
        class_weight: Weights of the labels in the loss: "balanced", or a weight above 0 by label.

    Attributes:
        classes_: The labels, sorted, in the order of the columns of `predict_proba`.
        model_: The fitted `headwise.nn.networks.text_models.PairModel`, whose labels are strings.
        recipe_: The settings that were used, as the sections of a recipe.
        history_: Dev scores, one dictionary per epoch.
    """

    TASK: ClassVar[str] = "pair"

    def __init__(
        self,
        *,
        encoder: EncoderName | None = None,
        vectors: str | PathLike[str] | None = None,
        epochs: int | None = None,
        recipe: Sections | str | PathLike[str] | None = None,
        class_weight: ClassWeight = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
        callbacks: Sequence[TrainingCallback] = (),
    ):
        super().__init__(
            encoder=encoder,
            vectors=vectors,
            epochs=epochs,
            recipe=recipe,
            random_state=random_state,
            verbose=verbose,
            callbacks=callbacks,
        )
        self.class_weight = class_weight

    def fit(
        self,
        X: Inputs,
        y: Targets,
        sample_weight: Weights = None,
        *,
        dev: tuple[Inputs, Targets] | None = None,
    ) -> Self:
        """Train on pairs and their labels.

        Args:
            X: Pairs of texts: a list of tuples, or an array or DataFrame with two columns.
            y: Their labels: strings, integers or booleans.
            sample_weight: How much each pair counts, `[pairs]`, 0 or more; also on dev.
            dev: Pairs and labels that select the best epoch and calibrate the probabilities. By default a
                share of X (`split.dev` of the recipe, 15 %); pairs with equal first texts stay on one side
                of the split.

        Raises:
            HeadwiseError: A setting is invalid, or the pairs are too few to split.
            TypeError, ValueError: X or y has a wrong type or value.
        """
        warn_of_other_order(X, y)
        self._store_columns(X)
        held = None if dev is None else self._labelled(*unpack_dev(dev))
        return self._fit_labelled(self._labelled(X, y, sample_weight), held)

    def _labelled(self, X: Inputs, y: Targets, weights: Weights = None) -> LabelledItems:
        pairs, targets = self._items(X), check_labels(y)
        check_consistent_length(pairs, targets)
        rows = zip(pairs, targets, weights_for(pairs, weights), strict=True)
        answered = [replace(pair, label=str(label), weight=weight) for pair, label, weight in rows]
        return answered, np.unique(targets)


class PairRegressor(PairEstimator[PairScorer], RegressionEstimator[PairScorer]):
    """A regressor of text pairs, for example for semantic similarity; see `TextEstimator` for its
    parameters.

    Attributes:
        model_: The fitted `headwise.nn.networks.text_models.PairScorer`.
        recipe_: The settings that were used, as the sections of a recipe.
        history_: Dev scores, one dictionary per epoch.
    """

    TASK: ClassVar[str] = "pair-score"

    def fit(
        self,
        X: Inputs,
        y: Targets,
        sample_weight: Weights = None,
        *,
        dev: tuple[Inputs, Targets] | None = None,
    ) -> Self:
        """Train on pairs and their scores.

        Args:
            X: Pairs of texts: a list of tuples, or an array or DataFrame with two columns.
            y: Their scores, numbers.
            sample_weight: How much each pair counts, `[pairs]`, 0 or more; also on dev.
            dev: Pairs and scores that select the best epoch. By default a share of X (`split.dev` of the
                recipe, 15 %); pairs with equal first texts stay on one side of the split.

        Raises:
            HeadwiseError: A setting is invalid, or the pairs are too few to split.
            TypeError, ValueError: X or y has a wrong type or value.
        """
        warn_of_other_order(X, y)
        self._store_columns(X)
        return self._fit_numbers(self._labelled_items(X, y, sample_weight), dev)


def _pairs_of_rows(X: Inputs) -> list[Pair]:
    check_is_list(X, "pairs of texts")
    table: Any = X
    if hasattr(table, "itertuples"):  # pandas
        table = table.itertuples(index=False, name=None)
    elif hasattr(table, "column_names"):  # Arrow
        table = zip(*(column.to_pylist() for column in table.columns), strict=True)
    rows: list[Any] = (
        list(table.iter_rows()) if hasattr(table, "iter_rows") else column_values(table)
    )  # Polars
    for place, row in enumerate(rows):
        if (
            isinstance(row, (str, Mapping, *UNORDERED_TYPES))
            or not hasattr(row, "__len__")
            or len(row) != 2
            or not all(isinstance(text, str) for text in row)
        ):
            names = column_names(X)
            columns = f"; give two of the {len(names)} columns, X[[FIRST, SECOND]]" * (len(names) > 2)
            raise TypeError(f"X[{place}] is {reprlib.repr(row)}; expected two texts{columns}")
    return [Pair(plain_str(first), plain_str(second)) for first, second in rows]


def _column_names(X: Inputs) -> list[str]:
    """The column names of a table if they are strings; else an empty list."""
    names = column_names(X)
    return names if all(isinstance(name, str) for name in names) else []
