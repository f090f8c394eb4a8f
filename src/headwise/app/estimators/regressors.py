"""TextRegressor: text regression as a scikit-learn estimator, and the base class of regressors."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted

from headwise.app.estimators.base_estimator import TextEstimator, check_targets, unpack_dev, weights_for
from headwise.data.items.examples import Example


class RegressionEstimator(RegressorMixin, TextEstimator):
    """Base class of the regressors."""

    def predict(self, X: Any) -> np.ndarray:
        """The predicted number of each text or pair, float64 `[items]`."""
        check_is_fitted(self, "model_")
        return self.model_.scores(self.model_.encoded(self._items(X)))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R² of the predictions, as in scikit-learn."""
        check_is_fitted(self, "model_")
        return super().score(X, _numbers(y), sample_weight)

    def _fit_numbers(self, answered: Sequence[Any], dev: tuple[Any, Any] | None) -> Self:
        if len({item.label for item in answered}) < 2:
            raise ValueError("y has only one value; a regressor needs two or more")
        return self._fit(answered, None if dev is None else self._labelled_items(*unpack_dev(dev)))

    def _labelled_items(self, X: Any, y: Any, weights: Any = None) -> list[Any]:
        """The items of X with their numbers as labels, and their weights."""
        items = [Example(item) if isinstance(item, str) else item for item in self._items(X)]
        numbers = _numbers(y)
        check_consistent_length(items, numbers)
        rows = zip(items, numbers, weights_for(items, weights), strict=True)
        return [replace(item, label=repr(float(number)), weight=weight) for item, number, weight in rows]


class TextRegressor(RegressionEstimator):
    """A text regressor, for example for ratings; see `TextEstimator` for its parameters.

    Attributes:
        model_: The fitted `headwise.nn.networks.text_models.TextRegressorModel`.
        recipe_: The settings that were used, as the sections of a recipe.
        history_: Dev scores, one dictionary per epoch.
    """

    TASK: ClassVar[str] = "regress"

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, dev: tuple[Any, Any] | None = None) -> Self:
        """Train on texts and their numbers.

        Args:
            X: Texts: a list, an array or a pandas Series of strings.
            y: Their numbers.
            sample_weight: How much each text counts, `[texts]`, 0 or more; also on dev.
            dev: Texts and numbers that select the best epoch. By default a share of X (`split.dev` of the
                recipe, 15 %); equal texts stay on one side of the split.

        Raises:
            HeadwiseError: A setting is invalid, or the texts are too few to split.
            TypeError, ValueError: X or y has a wrong type or value.
        """
        return self._fit_numbers(self._labelled_items(X, y, sample_weight), dev)


def _numbers(y: Any) -> np.ndarray:
    """y as a column of finite numbers, float64 `[items]`.

    Raises:
        TypeError, ValueError: It is not such a column.
    """
    column = column_or_1d(check_targets(y, "numbers"))
    return check_array(column, ensure_2d=False, dtype="float64", input_name="y")
