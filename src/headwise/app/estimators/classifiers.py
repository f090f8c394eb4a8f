"""LabelEstimator: the base class of single-label classifiers, with labels of any type.

TextClassifier: text classification as an estimator, `TextClassifier().fit(texts, labels)`.

MultiLabelClassifier: multi-label text classification as a scikit-learn estimator.
"""

from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from headwise.app.estimators.base_estimator import (
    TextEstimator,
    check_columns,
    check_targets,
    dimensions,
    plain_str,
    unpack_dev,
    weights_for,
)
from headwise.app.estimators.novelty_methods import NoveltyMethods
from headwise.app.estimators.table_columns import TableEstimator
from headwise.artifacts.model_info import ModelInfo
from headwise.data.items.examples import Example, MultiLabelExample, as_example
from headwise.data.items.labels import TOLERANCE, SoftLabel
from headwise.metrics.thresholds import predict_labels

LabelledItems = tuple[Sequence[Any], np.ndarray]
"""Labelled items, and the sorted unique labels in their original type."""


class LabelEstimator(ClassifierMixin, TextEstimator):
    """A classifier; see `TextEstimator` for its parameters.

    Attributes:
        classes_: The labels, sorted, in the order of the columns of `predict_proba`.
    """

    classes_: np.ndarray

    def predict_proba(self, X: Any) -> np.ndarray:
        """Calibrated probabilities, float64 `[items, classes]`, in the order of `classes_`."""
        check_is_fitted(self, "model_")
        names = list(self.model_.labels)
        columns = [names.index(str(label)) for label in self.classes_]
        return self.model_.predict_proba(self._items(X))[:, columns]

    def predict(self, X: Any) -> np.ndarray:
        """The most probable label of each item, or the label that the thresholds select, `[items]`, in the
        type of the labels in `fit`."""
        probabilities, thresholds = self.predict_proba(X), self.model_.thresholds
        if thresholds is not None:
            of = dict(zip(self.model_.labels, thresholds, strict=True))
            thresholds = [of[str(label)] for label in self.classes_]
        return self.classes_[predict_labels(probabilities, thresholds)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy, as in scikit-learn."""
        check_is_fitted(self, "model_")
        targets, model_label = check_labels(y), self.classes_.tolist()[0]
        first_label = targets.tolist()[0] if len(targets) else model_label
        if isinstance(first_label, str) != isinstance(model_label, str):
            raise TypeError(
                f"y has the label {first_label!r} ({type(first_label).__name__}); expected such as the "
                f"model has, like {model_label!r} ({type(model_label).__name__}): labels that were read "
                "from a file are texts"
            )
        return super().score(X, targets, sample_weight)

    def _fit_labelled(self, answered: LabelledItems, dev: LabelledItems | None) -> Self:
        """Train on labelled items and set the fitted attributes."""
        items, labels = answered
        if len(labels) < 2:
            only = f"only one class, {labels.tolist()}" if len(labels) else "no label"
            raise ValueError(f"y has {only}; a classifier needs two or more")
        held, dev_labels = dev or (None, labels)
        names = {str(label) for label in labels}
        if unseen := [label.item() for label in dev_labels if str(label) not in names]:
            raise ValueError(f"labels of dev that y does not have: {unseen}; it has {labels.tolist()}")
        self._fit(items, held, label_type=labels.dtype.name)
        trained = set(self.model_.labels)
        # Without the label of unknown texts.
        self.classes_ = labels[[str(label) in trained for label in labels.tolist()]]
        return self

    def _take(self, model: Any, info: ModelInfo) -> None:
        super()._take(model, info)
        names = np.array(model.labels)
        kind = _number_type(info.training.label_type)
        self.classes_ = np.unique(names == "True" if kind == np.bool_ else names.astype(kind or np.str_))


def _number_type(name: Any) -> np.dtype | None:
    """The dtype with this name if it is numeric or boolean; None for string labels."""
    try:
        dtype = np.dtype(name) if isinstance(name, str) else None
    except TypeError:
        return None
    return dtype if dtype is not None and dtype.kind in "iufb" else None


def check_labels(y: Any) -> np.ndarray:
    """The labels as an array `[items]` of one type, without missing labels.

    Raises:
        TypeError, ValueError: y is not a column of labels.
    """
    y = check_targets(y, "labels")
    if hasattr(y, "to_numpy") and not isinstance(getattr(y, "dtype", None), np.dtype):
        # scikit-learn would convert the extension types of tables to floats.
        column = y.tolist if hasattr(y, "tolist") else y.__iter__  # pandas, Polars
        y = list(column()) if dimensions(y) == 1 else y.to_numpy()
    targets = column_or_1d(y)
    # A string array would turn NaN into 'nan' and truncate the text of an Enum to the length of its value.
    objects = np.asarray(y, dtype=object).ravel() if isinstance(y, list | tuple) else targets
    values = [label.item() if isinstance(label, np.generic) else label for label in objects.tolist()]
    for place, label in enumerate(values):
        if label is None or type(label).__name__ == "NAType" or label != label:
            raise ValueError(f"y[{place}] is {label}; expected a label")
    if targets.dtype.kind in "OUT":
        texts = all(isinstance(label, str) for label in values)
        kinds = sorted({type(label).__name__ for label in values})
        if not texts and len(kinds) > 1:
            raise TypeError(f"y has labels of several types, {', '.join(kinds)}; expected one")
        dtype = object if texts and targets.dtype == object else None
        targets = np.array([plain_str(label) for label in values] if texts else values, dtype=dtype)
    if targets.dtype.kind in "mM":
        raise TypeError(f"y has labels of the type {targets.dtype}; give them as texts")
    check_classification_targets(targets)
    return targets + 0.0 if targets.dtype.kind == "f" else targets  # -0.0 is 0.0


class TextClassifier(NoveltyMethods, TableEstimator, LabelEstimator):
    """A classifier of texts; see `TableEstimator` for its parameters, and `NoveltyMethods` for texts that
    belong to no label.

    Attributes:
        classes_: The labels, sorted, in the order of the columns of `predict_proba`.
        model_: The fitted `headwise.TextClassifierModel`, whose labels are strings, in another order.
        recipe_: The settings that were used, as the sections of a recipe.
        history_: Dev scores, one dictionary per epoch.
    """

    TASK: ClassVar[str] = "classify"

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, dev: tuple[Any, Any] | None = None) -> Self:
        """Train on texts and their labels.

        Args:
            X: Texts: a list, an array or a pandas Series of strings; with `text_column` a table.
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
        self._learn_columns(X)
        items, labels = _examples(self._texts(X), y, sample_weight)
        answered = self._with_rows(X, items), labels
        held = None
        if dev is not None:
            dev_x, dev_y = unpack_dev(dev)
            items, dev_labels = _examples(self._texts(dev_x), dev_y, known_labels=labels)
            held = self._with_rows(dev_x, items), dev_labels
        return self._fit_labelled(answered, held)


def _examples(
    texts: Sequence[str], y: Any, weights: Any = None, known_labels: np.ndarray | None = None
) -> LabelledItems:
    """The examples and their sorted labels. `known_labels`: labels of y, which the columns of soft dev
    labels must match."""
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


def _probabilities(y: Any, names: tuple[str, ...]) -> list[SoftLabel]:
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
    return [SoftLabel(names, row) for row in values.astype(np.float32)]


class MultiLabelClassifier(NoveltyMethods, ClassifierMixin, TableEstimator):
    """A multi-label text classifier; see `TableEstimator` for its parameters, and `NoveltyMethods` for
    texts that belong to no label.

    Attributes:
        classes_: The labels in the order of the columns: the sorted names, or the column names of y, or
            column numbers if y has no names.
        model_: The fitted `headwise.nn.networks.text_models.MultiLabelModel`.
        recipe_: The settings that were used, as the sections of a recipe.
        history_: Dev scores, one dictionary per epoch.
    """

    TASK: ClassVar[str] = "multi-label"

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, dev: tuple[Any, Any] | None = None) -> Self:
        """Train on texts and their labels.

        Args:
            X: Texts: a list, an array or a pandas Series of strings; with `text_column` a table.
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
        self._learn_columns(X)
        examples, names = _examples_multi_label(self._texts(X), y, weights=sample_weight)
        examples = self._with_rows(X, examples)
        if not names:
            raise ValueError("y has no labels")
        held = None
        if dev is not None:
            dev_x, dev_y = unpack_dev(dev)
            held, dev_names = _examples_multi_label(self._texts(dev_x), dev_y, names)
            held = self._with_rows(dev_x, held)
            if unseen := [name for name in dev_names if name not in set(names)]:
                raise ValueError(f"labels of dev that y does not have: {unseen}")
        matrix = _matrix(y) is not None
        return self._fit(examples, held, names, label_matrix=_columns(y) or matrix if matrix else False)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Calibrated, independent probabilities of the labels, `[texts, labels]`."""
        check_is_fitted(self, "model_")
        return self.model_.predict_proba(self._items(X))[:, self._order]

    def predict(self, X: Any) -> Any:
        """The labels of each text: an indicator matrix, int64 `[texts, labels]`, if `fit` got one; else a
        list with a tuple of names for each text."""
        check_is_fitted(self, "model_")
        return self._predicted(self._items(X))

    def _predicted(self, items: Sequence[Any]) -> Any:
        has_label = self.model_.chosen_labels(self.model_.predict_proba(items))[:, self._order]
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
        items = self._items(X)
        texts, predictions = [as_example(item).text for item in items], self._predicted(items)
        examples, _ = _examples_multi_label(texts, predictions, class_names)
        predicted = [example.labels for example in examples]
        true = [example.labels for example in _examples_multi_label(texts, y, class_names)[0]]
        right = [
            set(predicted_labels) == set(true_labels)
            for predicted_labels, true_labels in zip(predicted, true, strict=True)
        ]
        return float(np.average(right, weights=sample_weight))

    def _take(self, model: Any, info: ModelInfo) -> None:
        super()._take(model, info)
        columns = info.training.label_matrix
        named_columns = list(map(str, columns)) if isinstance(columns, list) else []
        named = isinstance(columns, list) and sorted(named_columns) == sorted(model.labels)
        names = named_columns if named else list(model.labels)
        self._is_matrix = named or columns is True
        self._order = [model.labels.index(name) for name in names]
        self.classes_ = np.array([int(name) for name in names] if columns is True else names)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


def _examples_multi_label(
    texts: Sequence[str], y: Any, known_labels: Sequence[str] = (), weights: Any = None
) -> tuple[list[MultiLabelExample], list[str]]:
    """The examples and the names of all labels. Unnamed columns of an indicator matrix take the names
    `known_labels`, of which there must be as many."""
    matrix = _matrix(y)
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
        rows = check_targets(y, "lists of labels")
        sets = [_names(labels, place) for place, labels in enumerate(rows)]
        names = sorted({label for label_set in sets for label in label_set})
    check_consistent_length(texts, sets)
    rows = zip(texts, sets, weights_for(texts, weights), strict=True)
    return [
        MultiLabelExample(text, labels=label_set, weight=weight) for text, label_set, weight in rows
    ], names


def _columns(y: Any) -> list[str] | None:
    """The column names of a DataFrame; None if they are just 0, 1, ..., or y is no DataFrame."""
    names = list(getattr(y, "columns", ()))
    if names == list(range(len(names))):
        return None
    check_columns(names)
    return [plain_str(name) for name in names]


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
    return tuple(dict.fromkeys(map(plain_str, labels)))
