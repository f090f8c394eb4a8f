"""MultiLabelClassifier: any number of labels for each text, as a scikit-learn estimator."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from headwise.data.label_set import LabelSetExample
from headwise.estimators.base import (
    TextEstimator,
    check_answered,
    check_columns,
    dimensions,
    pair_of,
    plain,
    texts_of,
    weights_for,
)


class MultiLabelClassifier(ClassifierMixin, TextEstimator):
    """A classifier that says of each label whether a text has it; see `TextEstimator` for its parameters.

    Attributes:
        classes_: The labels in the order of the columns: sorted names, or the names of y's columns, or
            their numbers where they have none.
        model_: The fitted `headwise.models.label_set_model.LabelSetModel`.
        recipe_: The settings that were used, in the sections of a recipe.
        history_: Scores on dev, one dictionary for each epoch.
    """

    TASK: ClassVar[str] = "multi-label"

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, dev: tuple[Any, Any] | None = None) -> Self:
        """Train on texts and their labels.

        Args:
            X: Texts: a list, an array or a pandas Series of strings.
            y: Their labels: a list of names for each text (which may be empty), or an indicator matrix
                `[texts, labels]` of zeros and ones, as scikit-learn's `MultiLabelBinarizer` makes it; the
                columns of a DataFrame are found by their names.
            sample_weight: How much each text counts, `[texts]`, 0 or more, also of those split off.
            dev: Texts and labels that choose the best epoch and set probabilities and thresholds. By
                default a share of X (`split.dev` of the recipe, 15 %), with equal texts on one side.

        Raises:
            HeadwiseError: A setting is wrong, or the texts are too few to split.
            TypeError, ValueError: X or y are not what they should be.
        """
        examples, names = _examples(X, y, weights=sample_weight)
        if not names:
            raise ValueError("y has no labels")
        held = None
        if dev is not None:
            held, others = _examples(*pair_of(dev), names)
            if unseen := [name for name in others if name not in set(names)]:
                raise ValueError(f"labels of dev that y does not have: {unseen}")
        matrix = _matrix(y) is not None
        return self._fit(examples, held, names, label_matrix=_columns(y) or matrix if matrix else False)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The calibrated probability of every label, each by itself, `[texts, labels]`."""
        check_is_fitted(self, "model_")
        return self.model_.predict_proba(texts_of(X))[:, self._order]

    def predict(self, X: Any) -> Any:
        """The labels of each text: after a fit on an indicator matrix another one, int64 `[texts, labels]`,
        else a list with a tuple of names for each text."""
        check_is_fitted(self, "model_")
        given = self.model_.given(self.model_.predict_proba(texts_of(X)))[:, self._order]
        if self._is_matrix:
            return given.astype(np.int64)
        return [tuple(self.classes_[row].tolist()) for row in given]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of texts of which all labels are right, as scikit-learn's multi-label classifiers score."""
        check_is_fitted(self, "model_")
        known = [str(label) for label in self.classes_]
        if self.classes_.dtype.kind == "i" and _matrix(y) is None:
            raise TypeError(
                f"y has no columns; expected a matrix of {len(known)}, as in fit: its labels have no names"
            )
        texts = texts_of(X)
        predicted = [example.labels for example in _examples(texts, self.predict(texts), known)[0]]
        true = [example.labels for example in _examples(texts, y, known)[0]]
        right = [set(one) == set(other) for one, other in zip(predicted, true, strict=True)]
        return float(np.average(right, weights=sample_weight))

    def _take(self, model: Any, info: dict[str, Any]) -> None:
        super()._take(model, info)
        columns = info["training"].get("label_matrix")
        named = isinstance(columns, list) and sorted(map(str, columns)) == sorted(model.labels)
        names = list(map(str, columns)) if named else list(model.labels)
        self._is_matrix = named or columns is True
        self._order = [model.labels.index(name) for name in names]
        self.classes_ = np.array([int(name) for name in names] if columns is True else names)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


def _examples(
    X: Any, y: Any, known: Sequence[str] = (), weights: Any = None
) -> tuple[list[LabelSetExample], list[str]]:
    """The examples and the names of all labels; a matrix whose columns have no names has those that are
    `known`, if it has as many."""
    texts, matrix = texts_of(X), _matrix(y)
    if matrix is not None:
        count = matrix.shape[1]
        named = _columns(y)
        if known and named is None and len(known) != count:
            raise ValueError(f"y has {count} columns; expected {len(known)}, one for each label")
        if known and named is not None and set(named) != set(known):
            strange = [name for name in named if name not in known]
            found = f"columns of unknown labels, {strange}" if strange else f"only the columns {named}"
            raise ValueError(f"y has {found}; expected one for each label, {list(known)}")
        names = named or list(known) or [str(column) for column in range(count)]
        sets = [tuple(names[column] for column in np.flatnonzero(row)) for row in matrix]
    else:
        rows = check_answered(y, "lists of labels")
        sets = [_names(labels, place) for place, labels in enumerate(rows)]
        names = sorted({label for own in sets for label in own})
    check_consistent_length(texts, sets)
    rows = zip(texts, sets, weights_for(texts, weights), strict=True)
    return [LabelSetExample(text, labels=own, weight=weight) for text, own, weight in rows], names


def _columns(y: Any) -> list[str] | None:
    """The names of the columns of a DataFrame, if it has others than their numbers."""
    names = list(getattr(y, "columns", ()))
    if names == list(range(len(names))):
        return None
    check_columns(names)
    return [plain(name) for name in names]


def _matrix(y: Any) -> NDArray[np.bool_] | None:
    """An indicator matrix, if y is one."""
    if not (issparse(y) or dimensions(y) == 2):
        return None
    values: Any = np.asarray(y.toarray() if issparse(y) else y)
    if not np.isin(values, (0, 1)).all():
        raise ValueError("y is a matrix, but not of zeros and ones")
    return values.astype(np.bool_)


def _names(labels: Any, place: int) -> tuple[str, ...]:
    if isinstance(labels, str) or not np.iterable(labels):
        raise TypeError(f"y[{place}] is {labels!r:.80}; expected a list of labels, which may be empty")
    for label in labels:
        if not isinstance(label, str):
            fix = (
                ", or if these are zeros and ones for each label, np.array(y)"
                if isinstance(label, Integral)
                else ""
            )
            raise TypeError(f"y[{place}] has the label {label!r:.80}; expected texts{fix}")
    return tuple(dict.fromkeys(map(plain, labels)))
