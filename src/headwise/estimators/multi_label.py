"""MultiLabelClassifier: multi-label text classification as a scikit-learn estimator."""

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
    """A multi-label text classifier; see `TextEstimator` for its parameters.

    Attributes:
        classes_: The labels in the order of the columns: the sorted names, or the column names of y, or
            column numbers if y has no names.
        model_: The fitted `headwise.models.label_set_model.LabelSetModel`.
        recipe_: The settings that were used, as the sections of a recipe.
        history_: Dev scores, one dictionary per epoch.
    """

    TASK: ClassVar[str] = "multi-label"

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, dev: tuple[Any, Any] | None = None) -> Self:
        """Train on texts and their labels.

        Args:
            X: Texts: a list, an array or a pandas Series of strings.
            y: Their labels: a list of names for each text (which may be empty), or an indicator matrix
                `[texts, labels]` of zeros and ones, as from scikit-learn's `MultiLabelBinarizer`; the
                columns of a DataFrame are matched by name.
            sample_weight: How much each text counts, `[texts]`, 0 or more; also on dev.
            dev: Texts and labels that select the best epoch, calibrate the probabilities and set the
                thresholds. By default a share of X (`split.dev` of the recipe, 15 %); equal texts stay on
                one side of the split.

        Raises:
            HeadwiseError: A setting is invalid, or the texts are too few to split.
            TypeError, ValueError: X or y has a wrong type or value.
        """
        examples, names = _examples(X, y, weights=sample_weight)
        if not names:
            raise ValueError("y has no labels")
        held = None
        if dev is not None:
            held, dev_names = _examples(*pair_of(dev), names)
            if unseen := [name for name in dev_names if name not in set(names)]:
                raise ValueError(f"labels of dev that y does not have: {unseen}")
        matrix = _matrix(y) is not None
        return self._fit(examples, held, names, label_matrix=_columns(y) or matrix if matrix else False)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Calibrated, independent probabilities of the labels, `[texts, labels]`."""
        check_is_fitted(self, "model_")
        return self.model_.predict_proba(texts_of(X))[:, self._order]

    def predict(self, X: Any) -> Any:
        """The labels of each text: an indicator matrix, int64 `[texts, labels]`, if `fit` got one; else a
        list with a tuple of names for each text."""
        check_is_fitted(self, "model_")
        has_label = self.model_.chosen_labels(self.model_.predict_proba(texts_of(X)))[:, self._order]
        if self._is_matrix:
            return has_label.astype(np.int64)
        return [tuple(self.classes_[row].tolist()) for row in has_label]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Subset accuracy: share of texts with exactly the right labels, as in scikit-learn."""
        check_is_fitted(self, "model_")
        class_names = [str(label) for label in self.classes_]
        if self.classes_.dtype.kind == "i" and _matrix(y) is None:
            raise TypeError(
                f"y has no columns; expected a matrix of {len(class_names)}, as in fit: its labels have "
                "no names"
            )
        texts = texts_of(X)
        predicted = [example.labels for example in _examples(texts, self.predict(texts), class_names)[0]]
        true = [example.labels for example in _examples(texts, y, class_names)[0]]
        right = [
            set(predicted_labels) == set(true_labels)
            for predicted_labels, true_labels in zip(predicted, true, strict=True)
        ]
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
    X: Any, y: Any, known_labels: Sequence[str] = (), weights: Any = None
) -> tuple[list[LabelSetExample], list[str]]:
    """The examples and the names of all labels. Unnamed columns of an indicator matrix take the names
    `known_labels`, of which there must be as many."""
    texts, matrix = texts_of(X), _matrix(y)
    if matrix is not None:
        count = matrix.shape[1]
        named = _columns(y)
        if known_labels and named is None and len(known_labels) != count:
            raise ValueError(f"y has {count} columns; expected {len(known_labels)}, one for each label")
        if known_labels and named is not None and set(named) != set(known_labels):
            strange = [name for name in named if name not in known_labels]
            problem = f"columns of unknown labels, {strange}" if strange else f"only the columns {named}"
            raise ValueError(f"y has {problem}; expected one for each label, {list(known_labels)}")
        names = named or list(known_labels) or [str(column) for column in range(count)]
        sets = [tuple(names[column] for column in np.flatnonzero(row)) for row in matrix]
    else:
        rows = check_answered(y, "lists of labels")
        sets = [_names(labels, place) for place, labels in enumerate(rows)]
        names = sorted({label for label_set in sets for label in label_set})
    check_consistent_length(texts, sets)
    rows = zip(texts, sets, weights_for(texts, weights), strict=True)
    return [
        LabelSetExample(text, labels=label_set, weight=weight) for text, label_set, weight in rows
    ], names


def _columns(y: Any) -> list[str] | None:
    """The column names of a DataFrame; None if they are just 0, 1, ..., or y is no DataFrame."""
    names = list(getattr(y, "columns", ()))
    if names == list(range(len(names))):
        return None
    check_columns(names)
    return [plain(name) for name in names]


def _matrix(y: Any) -> NDArray[np.bool_] | None:
    """y as a boolean indicator matrix `[texts, labels]`; None if y is not a matrix."""
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
