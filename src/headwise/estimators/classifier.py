"""TextClassifier: text classification as an estimator, `TextClassifier().fit(texts, labels)`."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_consistent_length

from headwise.data.example import Example
from headwise.data.shares import TOLERANCE, Shares
from headwise.estimators.base import check_columns, pair_of, texts_of, weights_for
from headwise.estimators.labels import Answered, LabelEstimator, check_labels


class TextClassifier(LabelEstimator):
    """A classifier of texts; see `TextEstimator` for its parameters.

    Attributes:
        classes_: The labels, sorted, in the order of the columns of `predict_proba`.
        model_: The fitted `headwise.Model`, whose labels are strings, in another order.
        recipe_: The settings that were used, as the sections of a recipe.
        history_: Dev scores, one dictionary per epoch.
    """

    TASK: ClassVar[str] = "classify"

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, dev: tuple[Any, Any] | None = None) -> Self:
        """Train on texts and their labels.

        Args:
            X: Texts: a list, an array or a pandas Series of strings.
            y: Their labels: a list, an array, a Series or one column of strings, integers or booleans; or
                soft labels, the probabilities of all labels, `[texts, labels]`. The labels are then 0, 1,
                ..., or the column names of a DataFrame.
            sample_weight: How much each text counts, `[texts]`, 0 or more; also on dev.
            dev: Texts and labels that select the best epoch and calibrate the probabilities. By default a
                share of X (`split.dev` of the recipe, 15 %); equal texts stay on one side of the split.

        Raises:
            HeadwiseError: A setting is invalid, or the texts are too few to split.
            TypeError, ValueError: X or y has a wrong type or value.
        """
        answered = _examples(X, y, sample_weight)
        held = None if dev is None else _examples(*pair_of(dev), known_labels=answered[1])
        return self._fit_labelled(answered, held)


def _examples(X: Any, y: Any, weights: Any = None, known_labels: np.ndarray | None = None) -> Answered:
    """The examples and their sorted labels. `known_labels`: labels of y, which the columns of soft dev
    labels must match."""
    texts = texts_of(X)
    counts = weights_for(texts, weights)
    if np.ndim(y) == 2 and np.shape(y)[1] > 1:
        columns = list(getattr(y, "columns", range(np.shape(y)[1])))
        check_columns(columns)
        names = check_labels(columns)
        if known_labels is not None and set(map(str, names)) != set(map(str, known_labels)):
            raise ValueError(
                f"y of dev has the columns {columns}; expected one for each label of y, "
                f"{known_labels.tolist()}"
            )
        shares = _probabilities(y, tuple(map(str, names)))
        check_consistent_length(texts, shares)
        rows = zip(texts, shares, counts, strict=True)
        return [
            Example(t, soft_label.likeliest, shares=soft_label, weight=w) for t, soft_label, w in rows
        ], np.unique(names)
    targets = check_labels(y)
    check_consistent_length(texts, targets)
    rows = zip(texts, targets, counts, strict=True)
    return [Example(text, str(label), weight=w) for text, label, w in rows], np.unique(targets)


def _probabilities(y: Any, names: tuple[str, ...]) -> list[Shares]:
    """The rows of a matrix `[texts, labels]` as soft labels.

    Raises:
        ValueError: A row is not a probability distribution.
    """
    values = np.asarray(y, dtype=np.float64)
    good = ((values >= 0) & (values <= 1)).all(axis=1) & (np.abs(values.sum(axis=1) - 1) <= TOLERANCE)
    if not good.all():
        place = int((~good).argmax())
        raise ValueError(
            f"y[{place}] is {values[place].tolist()!r:.80}; expected the probabilities of {len(names)} "
            "labels, from 0 to 1, that add up to 1"
        )
    return [Shares(names, row) for row in values.astype(np.float32)]
