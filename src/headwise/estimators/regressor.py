"""TextRegressor: a number for each text as a scikit-learn estimator."""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted

from headwise.data.example import Example
from headwise.estimators.base import TextEstimator, texts_of, weights_for


class TextRegressor(RegressorMixin, TextEstimator):
    """A model that gives each text a number, such as a rating; see `TextEstimator` for its parameters.

    Attributes:
        model_: The fitted `headwise.models.regressor.Regressor`.
        recipe_: The settings that were used, in the sections of a recipe.
        history_: Scores on dev, one dictionary for each epoch.
    """

    TASK: ClassVar[str] = "regress"

    def fit(
        self,
        X: Sequence[str],
        y: Sequence[float],
        sample_weight: Any = None,
        *,
        dev: tuple[Sequence[str], Sequence[float]] | None = None,
    ) -> Self:
        """Train on texts and their numbers.

        Args:
            X: Texts: a list, an array or a pandas Series of strings.
            y: Their numbers.
            sample_weight: How much each text counts, `[texts]`, 0 or more.
            dev: Texts and numbers that choose the best epoch. By default a share of X (`split.dev` of the
                recipe, 15 %), with equal texts on one side.

        Raises:
            HeadwiseError: A setting is wrong, or the texts are too few to split.
            TypeError, ValueError: X or y are not what they should be.
        """
        examples = _examples(X, y, sample_weight)
        if len({example.label for example in examples}) < 2:
            raise ValueError("y has only one value; a regressor needs two or more")
        return self._fit(examples, None if dev is None else _examples(*dev))

    def predict(self, X: Sequence[str]) -> np.ndarray:
        """The number of each text, float64 `[texts]`."""
        check_is_fitted(self, "model_")
        return self.model_.scores(self.model_.features.encode(texts_of(X)))


def _examples(X: Any, y: Any, weights: Any = None) -> list[Example]:
    texts = texts_of(X)
    numbers: Any = check_array(column_or_1d(y), ensure_2d=False, dtype="float64", input_name="y")
    check_consistent_length(texts, numbers)
    rows = zip(texts, numbers, weights_for(texts, weights), strict=True)
    return [Example(text, repr(float(number)), weight=weight) for text, number, weight in rows]
